// TlsTransport: the raw stream below TLS, as OpenSSL's BIO sees it. Bytes go between OpenSSL's
// record buffers and the stream without a copy in between.
#ifndef WEFT_LIB_NET_TLS_BIO_H_
#define WEFT_LIB_NET_TLS_BIO_H_

#include <atomic>
#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "net/byte_stream.h"

struct bio_st;

namespace weft::inline v0::net {

// One thread at a time, except where noted.
class TlsTransport {
 public:
  enum class Operation { kHandshake, kRead, kWrite };

  explicit TlsTransport(std::unique_ptr<ByteStream> raw) : raw_(std::move(raw)) {}
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  // A BIO that this object must outlive; null without memory.
  bio_st* NewBio();
  ByteStream& raw() { return *raw_; }

  // Before each call into OpenSSL's handshake, read or write.
  void Begin(Operation operation);
  // Reading fails from now on: the way to stop OpenSSL, which reads on by itself after messages
  // that are no data.
  void RefuseReads() { refuse_reads_ = true; }

  // The peer closed its side.
  bool ended() const { return ended_; }
  // Why the raw stream failed.
  const absl::Status& failure() const { return failure_; }
  // Since Begin the raw stream said that nothing more is readable, so that the next bytes bring an
  // edge.
  bool drained() const { return drained_; }

  // Any thread. Whether a Read waits for the raw stream to be writable, and a Write for it to be
  // readable. Set before the raw stream is tried, so that the edge that ends the wait finds them
  // set.
  bool read_wants_write() const { return read_wants_write_.load(); }
  bool write_wants_read() const { return write_wants_read_.load(); }

 private:
  static int BioRead(bio_st* bio, char* to, size_t size, size_t* moved);
  static int BioWrite(bio_st* bio, const char* from, size_t size, size_t* moved);
  static long BioControl(bio_st* bio, int command, long number, void* pointer);
  static int BioCreate(bio_st* bio);

  const std::unique_ptr<ByteStream> raw_;
  Operation operation_ = Operation::kHandshake;
  bool refuse_reads_ = false;
  bool ended_ = false;
  bool drained_ = false;
  absl::Status failure_;
  std::atomic<bool> read_wants_write_{false};
  std::atomic<bool> write_wants_read_{false};
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_TLS_BIO_H_
