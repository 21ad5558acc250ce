// Everything that a user of Weft needs.
#ifndef WEFT_WEFT_H_
#define WEFT_WEFT_H_

#include "weft/attempt_log.h"           // IWYU pragma: export
#include "weft/balancer.h"              // IWYU pragma: export
#include "weft/balancers.h"             // IWYU pragma: export
#include "weft/balancing_options.h"     // IWYU pragma: export
#include "weft/body.h"                  // IWYU pragma: export
#include "weft/call_handle.h"           // IWYU pragma: export
#include "weft/call_options.h"          // IWYU pragma: export
#include "weft/channel.h"               // IWYU pragma: export
#include "weft/channel_factory.h"       // IWYU pragma: export
#include "weft/endpoint.h"              // IWYU pragma: export
#include "weft/error.h"                 // IWYU pragma: export
#include "weft/headers.h"               // IWYU pragma: export
#include "weft/health_check_options.h"  // IWYU pragma: export
#include "weft/hedge_options.h"         // IWYU pragma: export
#include "weft/host_info.h"             // IWYU pragma: export
#include "weft/load_probe_options.h"    // IWYU pragma: export
#include "weft/load_report.h"           // IWYU pragma: export
#include "weft/outlier_options.h"       // IWYU pragma: export
#include "weft/pending_call.h"          // IWYU pragma: export
#include "weft/reported_load.h"         // IWYU pragma: export
#include "weft/registries.h"            // IWYU pragma: export
#include "weft/registry_options.h"      // IWYU pragma: export
#include "weft/request.h"               // IWYU pragma: export
#include "weft/resolver.h"              // IWYU pragma: export
#include "weft/response.h"              // IWYU pragma: export
#include "weft/retry_options.h"         // IWYU pragma: export
#include "weft/stream.h"                // IWYU pragma: export
#include "weft/tls_options.h"           // IWYU pragma: export
#include "weft/trace_context.h"         // IWYU pragma: export

#endif  // WEFT_WEFT_H_
