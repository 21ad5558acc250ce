// The binary form of a load report: a protobuf message xds.data.orca.v3.OrcaLoadReport
// (github.com/cncf/xds, orca_load_report.proto), read here without protobuf, which the core does
// not need for anything else.
#ifndef WEFT_LIB_CLUSTER_ORCA_MESSAGE_H_
#define WEFT_LIB_CLUSTER_ORCA_MESSAGE_H_

#include <optional>
#include <string_view>

#include "weft/load_report.h"

namespace weft::inline v0::cluster {

// Nothing where it is not such a message, or nothing in it is of use, or not to be believed. Fields
// that are not read may be anything.
std::optional<LoadReport> ReportOfMessage(std::string_view message);

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_ORCA_MESSAGE_H_
