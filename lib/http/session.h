// Session: the protocol engine of one connection. It does no I/O and keeps no time: bytes in,
// events out, bytes to send collected by its owner. Not thread-safe: it lives inside its
// connection's strand.
//
//   owner ── Feed(bytes) ──▶ Session ── OnHead, OnData, OnTrailers, OnEnd ──▶ StreamUser
//   owner ◀─ Collect(out) ── Session ── OnSettings, OnGoaway, OnPingAck ────▶ SessionOwner
//
// A StreamUser is one exchange, the SessionOwner the connection.
#ifndef WEFT_LIB_HTTP_SESSION_H_
#define WEFT_LIB_HTTP_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/time.h"
#include "weft/error.h"
#include "weft/headers.h"

namespace weft::inline v0::http {

// The head of a request, as views that live until the session's Open returned and its bytes were
// collected.
struct RequestHead {
  std::string_view method;
  std::string_view scheme;  // "http" or "https"
  std::string_view authority;
  std::string_view path;
  const Headers* headers = nullptr;  // valid (Headers::Validate); null: none
  // Of this attempt alone, so not worth a place in the peer's table.
  std::span<const Headers::Field> attempt_fields = {};
  bool has_body = false;  // false: the request ends with its head
};

struct BodyPiece {
  enum class Next {
    kMore,  // ask again
    kWait,  // nothing more at present: Session::ResumeBody when there is
    kEnd,   // that was all; RequestTrailers follow
  };
  size_t bytes = 0;  // written to the buffer
  Next next = Next::kEnd;
};

// How an exchange ended. `status` is OK where the whole answer arrived, trailers included.
struct StreamEnd {
  absl::Status status;
  Origin origin = Origin::kPeer;
  Processed processed = Processed::kMaybeProcessed;
};

// One exchange as its session sees it. Events come from within Session functions and may call back
// Consume, ResumeBody, Reset and Open of the same session, but not Feed, Collect or EndAll.
class StreamUser {
 public:
  // Fills `to` with the next bytes of the request body. Asked only where RequestHead::has_body was
  // set.
  virtual BodyPiece ReadBody(char* to, size_t size) = 0;
  // After kEnd; null or empty: none. Lives until the exchange ends.
  virtual const Headers* RequestTrailers() { return nullptr; }

  // The final (not 1xx) head, at most once, before any data.
  virtual void OnHead(int status, Headers headers) = 0;
  // The next bytes of the body. The peer may send as many again only after Consume.
  virtual void OnData(std::string_view bytes) = 0;
  virtual void OnTrailers(Headers trailers) = 0;
  // Exactly once, last; not after Reset. The session has forgotten the user when it is called.
  virtual void OnEnd(StreamEnd end) = 0;

 protected:
  ~StreamUser() = default;
};

// A session's own record of an open exchange; valid from Open until OnEnd or Reset.
struct OpenStream;

class SessionOwner {
 public:
  // The peer's SETTINGS arrived (the first ones: the session may be used) or changed capacity().
  virtual void OnSettings() = 0;
  // The peer takes nothing new; streams above its last id have already ended as kRefused. `debug`
  // is printable.
  virtual void OnGoaway(uint32_t code, std::string_view debug) = 0;
  virtual void OnPingAck(uint64_t payload) = 0;
  // The peer is sent a RST_STREAM, whoever had the session reset the stream.
  virtual void OnReset() = 0;

 protected:
  ~SessionOwner() = default;
};

enum class ResetReason {
  kCancelled,  // CANCEL
  kInternal,   // INTERNAL_ERROR: this side could not take the answer
};

// What of a request has been collected.
enum class Sent : uint8_t {
  kNothing,  // not even the head: the peer will never hear of the stream if it is reset now
  kPart,
  kAll,  // END_STREAM too
};

class Session {
 public:
  virtual ~Session() = default;

  // Parses what arrived at `now`. An error (INTERNAL: the peer broke the protocol;
  // RESOURCE_EXHAUSTED: it flooded) is the end of the connection: Collect what is left (a GOAWAY),
  // send it, EndAll.
  virtual absl::Status Feed(std::string_view bytes, base::MonoTime now) = 0;
  // Appends everything that is to be sent. Bodies only while `out` is smaller than `limit`; the
  // rest follows at the next call.
  virtual void Collect(std::string& out, size_t limit) = 0;
  // Whether Collect would append something (bodies held back by a limit included).
  virtual bool wants_to_send() const = 0;

  // How many more streams may be opened now.
  virtual size_t capacity() const = 0;
  // False once no stream will ever be opened again: GOAWAY either way, stream ids used up, an
  // error.
  virtual bool accepting() const = 0;
  // Whether stream ids run out soon (RFC 9113 section 5.1.1): time to make a successor.
  virtual bool nearing_end() const = 0;
  virtual size_t open_streams() const = 0;
  // Whether the head of an open stream was among the first `bytes_sent` collected bytes.
  virtual bool HeadSent(const OpenStream* stream, uint64_t bytes_sent) const = 0;
  virtual Sent RequestSent(const OpenStream* stream) const = 0;
  // Whether the peer acknowledged our SETTINGS.
  virtual bool settings_acknowledged() const = 0;

  // Needs capacity() > 0. The user must live until OnEnd, Reset or EndAll.
  virtual OpenStream* Open(StreamUser& user, const RequestHead& head) = 0;
  // Forgets the user at once, tells the peer (RST_STREAM) unless it knows nothing of the stream,
  // returns the windows of what was not consumed.
  virtual void Reset(OpenStream* stream, ResetReason reason) = 0;
  // What is still to come goes to `to`, which must live as the user did; what that one had not
  // consumed is consumed. Only where the request was sent (Sent::kAll).
  virtual void HandOver(OpenStream* stream, StreamUser& to) = 0;
  virtual void ResumeBody(OpenStream* stream) = 0;
  virtual void Consume(OpenStream* stream, size_t bytes) = 0;

  virtual void Ping(uint64_t payload) = 0;
  // Says GOAWAY; open streams go on.
  virtual void Goaway(uint32_t code, std::string_view debug) = 0;

  // Ends every stream with `status`: those whose head was not among the first `bytes_sent`
  // collected bytes as kNotSent, the others as kMaybeProcessed. Nothing is to be done with the
  // session afterwards but to delete it.
  virtual void EndAll(const absl::Status& status, uint64_t bytes_sent) = 0;
};

}  // namespace weft::inline v0::http

#endif  // WEFT_LIB_HTTP_SESSION_H_
