// The balancers by the names that configuration has for them.
#ifndef WEFT_LIB_BALANCE_NAMED_H_
#define WEFT_LIB_BALANCE_NAMED_H_

#include <string_view>

#include "weft/balancers.h"

namespace weft::inline v0::balance {

// Null where there is none of that name.
BalancerFactory Named(std::string_view name);

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_NAMED_H_
