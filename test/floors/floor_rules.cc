#include "floors/floor_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace weft::floors {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, int> kFloors[] = {
    {"base", 0},       {"serving", 0},                                //
    {"event", 1},      {"telemetry", 1},                              //
    {"net", 2},        {"http", 2},                                   //
    {"http1", 3},      {"http2", 3},                                  //
    {"cluster", 4},                                                   //
    {"balance", 5},    {"registry", 5},  {"policy", 5}, {"pool", 5},  //
    {"route", 6},                                                     //
    {"call", 7},                                                      //
    {"channel", 8},                                                   //
    {"grpc", 9},                                                      //
    {"grpc_stub", 10},
};

// A library or kernel interface that one folder alone may know, so that it can be replaced there.
// `also` is a folder above that one which its users' types reach too.
struct Confined {
  std::string_view prefix;  // Of the included name.
  std::string_view folder;
  std::string_view also = {};
};
constexpr Confined kConfined[] = {
    {"nghttp2/", "http2"},    {"openssl/", "net"},
    {"sys/epoll.h", "event"}, {"zlib.h", "grpc"},
    {"grpc/", "grpc_stub"},   {"grpcpp/", "grpc_stub"},
    {"grpc++/", "grpc_stub"}, {"google/protobuf/", "grpc", "grpc_stub"},
};

struct Include {
  std::string_view name;
  bool quoted = false;
};

std::string_view SkipSpace(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

std::optional<Include> ParseInclude(std::string_view line) {
  line = SkipSpace(line);
  if (line.substr(0, 2) == "//") line = SkipSpace(line.substr(2));
  if (line.empty() || line.front() != '#') return std::nullopt;
  line = SkipSpace(line.substr(1));
  constexpr std::string_view kWord = "include";
  if (line.substr(0, kWord.size()) != kWord) return std::nullopt;
  line = SkipSpace(line.substr(kWord.size()));
  if (line.empty() || (line.front() != '"' && line.front() != '<')) return std::nullopt;
  const bool quoted = line.front() == '"';
  line.remove_prefix(1);
  const size_t end = line.find(quoted ? '"' : '>');
  if (end == std::string_view::npos) return std::nullopt;
  return Include{line.substr(0, end), quoted};
}

template <typename Function>  // void(int number, std::string_view line)
void ForEachLine(std::string_view text, Function function) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    function(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view FirstPart(std::string_view path) { return path.substr(0, path.find('/')); }

// <vector>, <cstdint>: a header of the C++ standard library has neither a folder nor an ending.
bool IsStandard(const Include& include) {
  return !include.quoted && !include.name.empty() &&
         std::all_of(include.name.begin(), include.name.end(), [](unsigned char c) {
           return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
         });
}

// A quoted name of another library, as Google's style writes Abseil's.
bool IsOutside(std::string_view name) {
  constexpr std::string_view kOutside[] = {"absl/",   "nghttp2/", "openssl/",
                                           "grpcpp/", "google/",  "nlohmann/"};
  return std::any_of(std::begin(kOutside), std::end(kOutside),
                     [name](std::string_view prefix) { return StartsWith(name, prefix); });
}

// gRPC's and protobuf's headers are <grpc/...> and "grpcpp/...", while the folder of lib/ is
// "grpc/...".
std::string RuleForConfined(std::string_view folder, const Include& include) {
  for (const Confined& confined : kConfined) {
    if (!StartsWith(include.name, confined.prefix)) continue;
    if (folder == confined.folder || folder == confined.also) continue;
    if (confined.prefix == "grpc/" && include.quoted) continue;
    return "only lib/" + std::string(confined.folder) + " includes <" +
           std::string(confined.prefix) + (confined.prefix.back() == '/' ? "...>" : ">");
  }
  return "";
}

// include/weft/<component>.h, or a file of include/weft/<component>/.
bool IsHeaderOf(std::string_view component, std::string_view file) {
  constexpr std::string_view kPublic = "include/weft/";
  if (!StartsWith(file, kPublic)) return false;
  file.remove_prefix(kPublic.size());
  if (!StartsWith(file, component)) return false;
  file.remove_prefix(component.size());
  return StartsWith(file, ".") || StartsWith(file, "/");
}

// The floor of the component that a public header is of; the core's are below all of them.
int FloorOfHeader(std::string_view file) {
  for (std::string_view component : {"grpc", "grpc_stub"}) {
    if (IsHeaderOf(component, file)) return FloorOf(component);
  }
  return 0;
}

std::string RuleForPublic(std::string_view file, const Include& include) {
  if (FloorOfHeader("include/" + std::string(include.name)) > FloorOfHeader(file)) {
    return "a public header includes no header of a higher component, as " +
           std::string(include.name);
  }
  if (StartsWith(include.name, "weft/") || StartsWith(include.name, "absl/")) return "";
  if (IsStandard(include)) return "";
  const bool grpc_header = IsHeaderOf("grpc", file);
  const bool stub_header = IsHeaderOf("grpc_stub", file);
  if (stub_header && StartsWith(include.name, "grpcpp/")) return "";
  if ((grpc_header || stub_header) && StartsWith(include.name, "google/protobuf/")) return "";
  return "a public header includes only public headers, Abseil and the C++ standard library, not " +
         std::string(include.name);
}

std::string RuleForPrivate(std::string_view folder, int floor, const Include& include) {
  std::string confined = RuleForConfined(folder, include);
  if (!confined.empty()) return confined;
  if (StartsWith(include.name, "weft/")) {
    if (floor >= FloorOfHeader("include/" + std::string(include.name))) return "";
    return std::string(folder) + " (floor " + std::to_string(floor) +
           ") includes no header of a component above it, as " + std::string(include.name);
  }
  if (!include.quoted || IsOutside(include.name)) return "";

  const std::string_view other = FirstPart(include.name);
  if (other == include.name) {
    return "name the folder of a private header: \"" + std::string(folder) + "/" +
           std::string(include.name) + "\"";
  }
  if (other == folder) return "";
  const int other_floor = FloorOf(other);
  if (other_floor < 0) return "no floor has a folder " + std::string(other);
  if (folder == "grpc") return "lib/grpc uses only include/weft, not " + std::string(include.name);
  if (folder == "grpc_stub" && other != "grpc") {
    return "lib/grpc_stub uses only include/weft and lib/grpc, not " + std::string(include.name);
  }
  if (other_floor == floor) {
    return std::string(folder) + " and " + std::string(other) + " are both on floor " +
           std::to_string(floor) + " and never include each other";
  }
  if (other_floor > floor) {
    return std::string(folder) + " (floor " + std::to_string(floor) +
           ") includes only lower floors, not " + std::string(other) + " (floor " +
           std::to_string(other_floor) + ")";
  }
  return "";
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

void Append(std::vector<Violation>& to, std::vector<Violation> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

std::string Describe(const Violation& violation) {
  return violation.file + ":" + std::to_string(violation.line) + ": " + violation.rule;
}

int FloorOf(std::string_view folder) {
  for (const auto& [name, floor] : kFloors) {
    if (name == folder) return floor;
  }
  return -1;
}

std::vector<Violation> CheckIncludes(std::string_view file, std::string_view text) {
  const bool is_public = StartsWith(file, "include/");
  std::string_view folder;
  int floor = -1;
  if (!is_public) {
    const std::string_view below = file.substr(file.find('/') + 1);  // Without "lib/".
    folder = FirstPart(below);
    floor = folder == below ? -1 : FloorOf(folder);
    if (floor < 0)
      return {{std::string(file), 1, "a file of lib/ is in a folder of the floors' table"}};
  }

  std::vector<Violation> violations;
  ForEachLine(text, [&](int number, std::string_view line) {
    const std::optional<Include> include = ParseInclude(line);
    if (!include) return;
    std::string rule =
        is_public ? RuleForPublic(file, *include) : RuleForPrivate(folder, floor, *include);
    if (!rule.empty()) violations.push_back({std::string(file), number, std::move(rule)});
  });
  return violations;
}

std::vector<Violation> CheckLength(std::string_view file, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= kMaxLines) return {};
  return {
      {std::string(file), kMaxLines + 1,
       std::to_string(lines) + " lines, at most " + std::to_string(kMaxLines) + " are allowed"}};
}

std::vector<Violation> CheckTestNames(std::string_view file, std::string_view text) {
  std::vector<Violation> violations;
  ForEachLine(text, [&](int number, std::string_view line) {
    constexpr std::string_view kStart = "TEST_CASE(\"";
    if (!StartsWith(line, kStart)) return;
    const std::string_view name = line.substr(kStart.size());
    if (name.substr(0, name.find('"')).find_first_of(";[]\\") == std::string_view::npos) return;
    violations.push_back({std::string(file), number,
                          "the name of a test case has no ; [ ] or \\, as ctest would not run it"});
  });
  return violations;
}

std::vector<Violation> CheckTree(const std::string& root, int* files_seen) {
  std::vector<std::string> files;
  for (std::string_view top : {"lib", "include", "test", "examples", "benchmarks"}) {
    const fs::path folder = fs::path(root) / top;
    if (!fs::is_directory(folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string ending = entry.path().extension().string();
      if (!entry.is_regular_file() || (ending != ".h" && ending != ".cc")) continue;
      files.push_back(entry.path().lexically_relative(root).generic_string());
    }
  }
  std::sort(files.begin(), files.end());

  std::vector<Violation> violations;
  for (const std::string& file : files) {
    const std::string text = ReadFile(fs::path(root) / file);
    Append(violations, CheckLength(file, text));
    if (StartsWith(file, "test/")) Append(violations, CheckTestNames(file, text));
    if (StartsWith(file, "lib/") || StartsWith(file, "include/")) {
      Append(violations, CheckIncludes(file, text));
    }
  }
  if (files_seen != nullptr) *files_seen = static_cast<int>(files.size());
  return violations;
}

}  // namespace weft::floors
