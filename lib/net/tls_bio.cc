#include "net/tls_bio.h"

#include <openssl/bio.h>

#include <string_view>
#include <utility>

namespace weft::inline v0::net {

bio_st* TlsTransport::NewBio() {
  // Never freed: BIOs of streams that die late may refer to it until the process ends.
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "weft byte stream");
    if (made == nullptr) return made;
    BIO_meth_set_create(made, &BioCreate);
    BIO_meth_set_read_ex(made, &BioRead);
    BIO_meth_set_write_ex(made, &BioWrite);
    BIO_meth_set_ctrl(made, &BioControl);
    return made;
  }();
  BIO* bio = method != nullptr ? BIO_new(method) : nullptr;
  if (bio != nullptr) BIO_set_data(bio, this);
  return bio;
}

void TlsTransport::Begin(Operation operation) {
  operation_ = operation;
  drained_ = false;
  std::atomic<bool>* wait = operation == Operation::kRead    ? &read_wants_write_
                            : operation == Operation::kWrite ? &write_wants_read_
                                                             : nullptr;
  if (wait != nullptr && wait->load(std::memory_order_relaxed)) wait->store(false);
}

int TlsTransport::BioCreate(bio_st* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

int TlsTransport::BioRead(bio_st* bio, char* to, size_t size, size_t* moved) {
  auto* self = static_cast<TlsTransport*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *moved = 0;
  if (self->refuse_reads_ || self->ended_ || !self->failure_.ok()) return 0;
  if (self->drained_) {  // Asking again would only cost a system call.
    BIO_set_retry_read(bio);
    return 0;
  }
  const bool crossed = self->operation_ == Operation::kWrite;
  if (crossed) self->write_wants_read_.store(true);
  IoResult result = self->raw_->Read(to, size);
  switch (result.kind) {
    case IoResult::Kind::kOk:
      if (crossed) self->write_wants_read_.store(false);
      self->drained_ = result.drained;
      *moved = result.bytes;
      return 1;
    case IoResult::Kind::kBlocked:
      self->drained_ = true;
      BIO_set_retry_read(bio);
      return 0;
    case IoResult::Kind::kEnd:
      self->ended_ = true;
      return 0;
    case IoResult::Kind::kFailed:
      self->failure_ = std::move(result.status);
      return 0;
  }
  return 0;
}

int TlsTransport::BioWrite(bio_st* bio, const char* from, size_t size, size_t* moved) {
  auto* self = static_cast<TlsTransport*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *moved = 0;
  if (!self->failure_.ok()) return 0;
  const bool crossed = self->operation_ == Operation::kRead;
  if (crossed) self->read_wants_write_.store(true);
  IoResult result = self->raw_->Write(std::string_view(from, size));
  switch (result.kind) {
    case IoResult::Kind::kOk:
      if (crossed) self->read_wants_write_.store(false);
      *moved = result.bytes;
      return 1;
    case IoResult::Kind::kBlocked:
      BIO_set_retry_write(bio);
      return 0;
    case IoResult::Kind::kEnd:
      self->failure_ = absl::UnavailableError("closed the connection");
      return 0;
    case IoResult::Kind::kFailed:
      self->failure_ = std::move(result.status);
      return 0;
  }
  return 0;
}

// BIO_CTRL_EOF is answered with no on purpose: OpenSSL would take the end for a protocol error,
// answer it with an alert and spoil the session in the cache. ended() tells.
long TlsTransport::BioControl(bio_st*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

}  // namespace weft::inline v0::net
