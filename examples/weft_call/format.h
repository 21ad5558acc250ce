// Words for people, and values for JSON, of what a call or its error says.
#ifndef WEFT_EXAMPLES_WEFT_CALL_FORMAT_H_
#define WEFT_EXAMPLES_WEFT_CALL_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "weft/weft.h"

namespace weft_call {

using Json = nlohmann::ordered_json;

// "0.42 ms", "12.3 ms", "1.50 s".
std::string Shown(absl::Duration duration);
// "1 attempt", "3 attempts".
std::string Counted(uint64_t count, std::string_view noun);
// "UNAVAILABLE, origin connection, not sent"; without the origin where the status has no CallError.
std::string Kind(const absl::Status& error);
// What the connections of the process have been through, in one line.
std::string Shown(const weft::FactoryStats& stats);

// Milliseconds with three digits behind the point.
double JsonMs(absl::Duration duration);
// {"content-type": ["text/plain"]}
Json ToJson(const weft::Headers& headers);
Json ToJson(const absl::Status& error);
Json ToJson(const weft::FactoryStats& stats);
// With bytes that are no UTF-8 replaced, and a newline.
std::string Text(const Json& json);

// Two lines on standard error: the sentence, and what a program would ask of it.
void PrintError(const absl::Status& error);

}  // namespace weft_call

#endif  // WEFT_EXAMPLES_WEFT_CALL_FORMAT_H_
