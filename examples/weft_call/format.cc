#include "weft_call/format.h"

#include <cmath>
#include <cstdio>

namespace weft_call {

std::string Shown(absl::Duration duration) {
  const double ms = absl::ToDoubleMilliseconds(duration);
  char text[32];
  if (ms < 10) {
    std::snprintf(text, sizeof(text), "%.2f ms", ms);
  } else if (ms < 1000) {
    std::snprintf(text, sizeof(text), "%.1f ms", ms);
  } else {
    std::snprintf(text, sizeof(text), "%.2f s", ms / 1000);
  }
  return text;
}

std::string Counted(uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + " " + std::string(noun);
  if (count != 1) text += "s";
  return text;
}

std::string Kind(const absl::Status& error) {
  std::string kind = absl::StatusCodeToString(error.code());
  if (const auto call = weft::GetCallError(error)) {
    kind += ", origin " + std::string(weft::OriginName(call->origin)) + ", " +
            std::string(weft::ProcessedName(call->processed));
  }
  return kind;
}

std::string Shown(const weft::FactoryStats& stats) {
  return Counted(stats.connections_opened, "connection") + " opened, " +
         std::to_string(stats.connections_lost) + " lost; " + Counted(stats.dial_failures, "dial") +
         " failed; " +
         Counted(stats.retries + stats.hedges + stats.transparent_retries + stats.bounces,
                 "extra attempt");
}

double JsonMs(absl::Duration duration) {
  return std::round(absl::ToDoubleMicroseconds(duration)) / 1000;
}

Json ToJson(const weft::Headers& headers) {
  Json json = Json::object();
  for (const auto [name, value] : headers) json[std::string(name)].push_back(std::string(value));
  return json;
}

Json ToJson(const absl::Status& error) {
  Json json = {{"code", absl::StatusCodeToString(error.code())},
               {"message", std::string(error.message())}};
  if (const auto call = weft::GetCallError(error)) {
    json["origin"] = std::string(weft::OriginName(call->origin));
    json["processed"] = std::string(weft::ProcessedName(call->processed));
    json["attempts"] = call->attempts;
    if (!call->host.empty()) json["host"] = call->host;
  }
  return json;
}

Json ToJson(const weft::FactoryStats& stats) {
  return {{"opened", stats.connections_opened},
          {"lost", stats.connections_lost},
          {"dial_failures", stats.dial_failures},
          {"retries", stats.retries},
          {"hedges", stats.hedges},
          {"transparent_retries", stats.transparent_retries},
          {"bounces", stats.bounces}};
}

std::string Text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void PrintError(const absl::Status& error) {
  std::string facts = Kind(error);
  if (const auto call = weft::GetCallError(error)) {
    facts += ", " + Counted(static_cast<uint64_t>(call->attempts), "attempt");
    if (!call->host.empty()) facts += ", host " + call->host;
  }
  std::fprintf(stderr, "weft_call: %s\n  %s\n", std::string(error.message()).c_str(),
               facts.c_str());
}

}  // namespace weft_call
