// The summary of many calls.
#ifndef WEFT_EXAMPLES_WEFT_CALL_REPORT_H_
#define WEFT_EXAMPLES_WEFT_CALL_REPORT_H_

#include <string>

#include "absl/time/time.h"
#include "weft/channel_factory.h"
#include "weft_call/args.h"
#include "weft_call/tally.h"

namespace weft_call {

struct Report {
  const Args& args;
  Tally& tally;
  absl::Duration took;
  weft::FactoryStats stats;
  bool interrupted;
};

std::string ReportText(const Report& report);
std::string ReportJson(const Report& report);

}  // namespace weft_call

#endif  // WEFT_EXAMPLES_WEFT_CALL_REPORT_H_
