// Args: what the command line of weft_call asks for.
#ifndef WEFT_EXAMPLES_WEFT_CALL_ARGS_H_
#define WEFT_EXAMPLES_WEFT_CALL_ARGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/weft.h"

namespace weft_call {

struct Args {
  std::string target;
  std::string registry;  // directory of a weft::FileRegistry; empty: none
  weft::ChannelOptions channel;
  weft::Request request;
  weft::CallOptions call;

  bool has_body = false;  // -d was given, be it empty

  int calls = 0;       // 0: a single call
  int concurrent = 0;  // kept in flight by callbacks
  int threads = 0;     // that block, each in one call

  bool include = false;
  bool verbose = false;
  bool silent = false;
  bool json = false;
  bool help = false;
};

// `words` without the program's name. INVALID_ARGUMENT is one sentence that names the argument.
// With `help`, the rest may be anything.
absl::StatusOr<Args> ParseArgs(const std::vector<std::string>& words);

std::string HelpText();

}  // namespace weft_call

#endif  // WEFT_EXAMPLES_WEFT_CALL_ARGS_H_
