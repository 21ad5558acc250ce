// Headers as a container against a plain list, its Validate, and the gathering of a response's
// header block.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http2/header_block.h"
#include "weft/error.h"
#include "weft/headers.h"

namespace {

using Model = std::vector<std::pair<std::string, std::string>>;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

void RequireSame(const weft::Headers& headers, const Model& model) {
  Require(headers.size() == model.size());
  size_t i = 0;
  for (const auto field : headers) {
    Require(field.name == model[i].first && field.value == model[i].second);
    ++i;
  }
}

bool Remove(Model& model, const std::string& name) {
  const auto end = std::remove_if(model.begin(), model.end(),
                                  [&](const auto& field) { return field.first == name; });
  const bool found = end != model.end();
  model.erase(end, model.end());
  return found;
}

void RequireValidatesSanely(const weft::Headers& headers) {
  const absl::Status status = headers.Validate();
  for (const char c : status.message()) Require(c >= 0x20 && c < 0x7f);
  if (!status.ok()) return;
  for (const auto field : headers) {
    Require(!field.name.empty() && field.name[0] != ':');
    for (const char c : field.value) Require(c != '\r' && c != '\n' && c != '\0');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto take = [&](size_t bytes) {
    const std::string_view taken = input.substr(0, std::min(bytes, input.size()));
    input.remove_prefix(taken.size());
    return taken;
  };
  weft::Headers headers;
  Model model;
  weft::http2::HeaderBlock block(300);
  block.Begin();
  while (!input.empty()) {
    const auto what = static_cast<uint8_t>(take(1)[0]);
    std::string_view name = take(what >> 5);
    std::string_view value = take(what & 12);
    // Now and then views of the object's own bytes.
    if ((what & 16) != 0 && !headers.empty()) {
      name = headers.at(what % headers.size()).name;
      value = headers.at((what >> 4) % headers.size()).value;
    }
    const std::string lower = Lower(name);
    const std::string own_value(value);
    const auto verdict = block.Add(lower, own_value);
    Require(verdict != weft::http2::HeaderBlock::Verdict::kBadStatus || lower == ":status");
    switch (what & 3) {
      case 0:
      case 1:
        headers.Add(name, value);
        model.emplace_back(lower, own_value);
        break;
      case 2:
        headers.Set(name, value);
        Remove(model, lower);
        model.emplace_back(lower, own_value);
        break;
      default:
        Require(headers.Has(lower) == headers.Remove(std::string(name)));
        Remove(model, lower);
    }
    RequireSame(headers, model);
    Require(headers.Has(lower) == !headers.All(lower).empty());
  }
  RequireValidatesSanely(headers);
  RequireValidatesSanely(block.Take());
  weft::Headers moved = std::move(headers);
  RequireSame(moved, model);

  absl::Status status = absl::InternalError("x");
  status.SetPayload("weft/call-error",
                    absl::Cord(std::string(reinterpret_cast<const char*>(data), size)));
  if (const auto error = weft::GetCallError(status)) {
    absl::Status again = absl::InternalError("x");
    weft::SetCallError(again, *error);
    Require(again == status);  // what parses is what would be written
  }
  return 0;
}
