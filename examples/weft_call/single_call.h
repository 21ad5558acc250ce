// One call: its answer on standard output as it comes, and what the client did on standard error.
#ifndef WEFT_EXAMPLES_WEFT_CALL_SINGLE_CALL_H_
#define WEFT_EXAMPLES_WEFT_CALL_SINGLE_CALL_H_

#include "weft/weft.h"
#include "weft_call/args.h"

namespace weft_call {

// The exit status: 0, or 1 when no whole answer came.
int RunSingleCall(const weft::ChannelFactory& factory, weft::Channel& channel, const Args& args);

}  // namespace weft_call

#endif  // WEFT_EXAMPLES_WEFT_CALL_SINGLE_CALL_H_
