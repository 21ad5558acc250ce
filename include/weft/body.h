// BodySource and BodySink: bodies that are not in memory as a whole.
//
// A source is asked for the next piece only when there is room for it, a sink is handed the next
// piece only after it returned from the last: the slower side sets the pace, and at most one stream
// window (1 MiB to begin with) of response bytes and 64 KiB of request bytes are held in between.
// Threads: the functions of one source or sink are never called at the same time; they run where
// the call's callbacks run (a loop thread, or the executor of the call). One that blocks belongs on
// an executor.
#ifndef WEFT_BODY_H_
#define WEFT_BODY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/headers.h"

namespace weft::inline v0 {

class BodySource {
 public:
  virtual ~BodySource() = default;

  // Appends the next bytes to `out` (some 16 KiB is a good piece) and returns true, or appends the
  // last ones (or nothing) and returns false. An error cancels the call, which ends with it.
  virtual absl::StatusOr<bool> Read(std::string& out) = 0;
  // Asked once, after the last Read: what follows the body.
  virtual Headers Trailers() { return {}; }

  // Whether Rewind can be asked for; asked once, before the first Read.
  virtual bool can_rewind() const { return false; }
  // The body is to be sent from its start, to another host: the next Read gives its first bytes. An
  // error ends the call. Without it a call can be tried again only while no more than 256 KiB were
  // sent, which are kept for that.
  virtual absl::Status Rewind() { return absl::UnimplementedError("cannot rewind"); }
};

class BodySink {
 public:
  virtual ~BodySink() = default;

  // The status and headers of the answer, before the first Write. An error cancels the call, which
  // ends with it.
  virtual absl::Status OnHead(int status, const Headers& headers) {
    (void)status, (void)headers;
    return absl::OkStatus();
  }
  // The next bytes; the view lives until it returns. An error cancels the call, which ends with it.
  virtual absl::Status Write(std::string_view bytes) = 0;
};

}  // namespace weft::inline v0

#endif  // WEFT_BODY_H_
