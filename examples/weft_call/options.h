// The options of weft_call: one table, for the parser and for the help.
#ifndef WEFT_EXAMPLES_WEFT_CALL_OPTIONS_H_
#define WEFT_EXAMPLES_WEFT_CALL_OPTIONS_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "weft_call/args.h"

namespace weft_call {

struct Option {
  char letter = 0;              // 0: none
  std::string_view word = {};   // empty: a heading, which is in `help`
  std::string_view value = {};  // what the help calls the value; empty: a flag
  std::string_view help = {};   // lines
  // The error is the reason alone: "is not a duration".
  absl::Status (*apply)(Args& args, const std::string& value) = nullptr;
};

std::span<const Option> Options();

}  // namespace weft_call

#endif  // WEFT_EXAMPLES_WEFT_CALL_OPTIONS_H_
