// Many calls: made by threads that block, by callbacks, or both, with a summary at the end.
#ifndef WEFT_EXAMPLES_WEFT_CALL_LOAD_RUN_H_
#define WEFT_EXAMPLES_WEFT_CALL_LOAD_RUN_H_

#include "weft/weft.h"
#include "weft_call/args.h"

namespace weft_call {

// The exit status: 0, or 1 when a call failed or none was made. SIGINT ends the run after the calls
// that are in flight; a second one ends the process.
int RunLoad(const weft::ChannelFactory& factory, weft::Channel& channel, const Args& args);

}  // namespace weft_call

#endif  // WEFT_EXAMPLES_WEFT_CALL_LOAD_RUN_H_
