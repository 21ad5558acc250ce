// What flows from a request that came in to the calls that are made for it.
#ifndef WEFT_LIB_CALL_INBOUND_H_
#define WEFT_LIB_CALL_INBOUND_H_

#include <string_view>

#include "weft/call_options.h"

namespace weft::inline v0::call {

std::string_view TierText(Tier tier);  // "0", "1", "2"

}  // namespace weft::inline v0::call

#endif  // WEFT_LIB_CALL_INBOUND_H_
