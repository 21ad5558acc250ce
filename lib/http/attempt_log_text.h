// The log of a call's attempts as text, to travel in the payload of a status.
#ifndef WEFT_LIB_HTTP_ATTEMPT_LOG_TEXT_H_
#define WEFT_LIB_HTTP_ATTEMPT_LOG_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "weft/attempt_log.h"

namespace weft::inline v0::http {

std::string WriteAttemptLog(const AttemptLog& log);
// Nothing unless it is what the other one writes.
std::optional<AttemptLog> ReadAttemptLog(std::string_view text);

}  // namespace weft::inline v0::http

#endif  // WEFT_LIB_HTTP_ATTEMPT_LOG_TEXT_H_
