#include "net/tls_stream.h"

#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "net/tls_error.h"

namespace weft::inline v0::net {
namespace {

constexpr std::string_view kProtocol = "h2";  // as TlsContext offers it
constexpr size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

// A handshake has about ten messages from the server.
constexpr uint32_t kHandshakeMessages = 64;
// Servers send two or three tickets at the start and a key update after gigabytes.
constexpr uint32_t kMessages = 32;
constexpr size_t kDataPerMessage = 64 * 1024;

// Two of `sha256(context, name)`'s inputs must not run into each other; the context's has a fixed
// length.
std::string SessionContext(std::string_view context_id, const TlsIdentity& identity) {
  const std::string input = absl::StrCat(std::string(context_id), identity.name);
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  static_assert(SHA256_DIGEST_LENGTH <= SSL_MAX_SID_CTX_LENGTH);
  SHA256(reinterpret_cast<const uint8_t*>(input.data()), input.size(),
         reinterpret_cast<uint8_t*>(digest.data()));
  return digest;
}

bool IsExpired(const SSL_SESSION* session) {
  const X509* certificate = SSL_SESSION_get0_peer(const_cast<SSL_SESSION*>(session));
  return certificate == nullptr || X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0;
}

}  // namespace

void TlsStream::Install(SSL_CTX* context) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, &OnVerify);
  SSL_CTX_sess_set_new_cb(context, &OnNewSession);
  SSL_CTX_set_msg_callback(context, &OnMessage);
}

std::unique_ptr<TlsStream> TlsStream::Create(SSL_CTX* context, std::string_view context_id,
                                             std::string_view server_name,
                                             std::unique_ptr<ByteStream> raw,
                                             std::shared_ptr<TlsSessionCache> sessions) {
  std::unique_ptr<TlsStream> stream(new TlsStream(std::move(raw), std::move(sessions)));
  stream->failure_ = stream->Start(context, context_id, server_name);
  return stream;
}

absl::Status TlsStream::Start(SSL_CTX* context, std::string_view context_id,
                              std::string_view server_name) {
  absl::StatusOr<TlsIdentity> identity = TlsIdentity::Parse(server_name);
  if (!identity.ok()) return identity.status();
  identity_ = *std::move(identity);
  message_credit_ = kHandshakeMessages;
  ERR_clear_error();
  SSL* ssl = SSL_new(context);
  ssl_.reset(ssl);
  BIO* bio = ssl != nullptr ? transport_.NewBio() : nullptr;
  if (bio == nullptr) return absl::ResourceExhaustedError("no memory for TLS");
  SSL_set_bio(ssl, bio, bio);
  SSL_set_connect_state(ssl);
  SSL_set_app_data(ssl, this);
  SSL_set_msg_callback_arg(ssl, this);
  SSL_set_tlsext_debug_callback(ssl, &OnExtension);
  const std::string session_context = SessionContext(context_id, identity_);
  const bool ready =
      SSL_set_session_id_context(ssl, reinterpret_cast<const uint8_t*>(session_context.data()),
                                 static_cast<unsigned>(session_context.size())) == 1 &&
      RequireIdentity(ssl, identity_);
  if (!ready)
    return absl::ResourceExhaustedError(
        absl::StrCat("could not set up TLS: ", TakeOpenSslReason()));
  OfferSession(session_context);
  return absl::OkStatus();
}

TlsStream::~TlsStream() {
  ERR_clear_error();
  if (established_ && !tls_broken_ && transport_.failure().ok() && (held_.empty() || held_sent_)) {
    transport_.Begin(TlsTransport::Operation::kHandshake);
    SSL_shutdown(ssl_.get());
  }
  // Otherwise OpenSSL would take a lost connection for a reason to spoil the session in the cache.
  if (ssl_ != nullptr && !tls_broken_)
    SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  ssl_.reset();
  ERR_clear_error();
}

void TlsStream::OfferSession(std::string_view session_context) {
  SslSessionPtr session(sessions_ != nullptr ? sessions_->Take() : nullptr);
  if (session == nullptr || SSL_SESSION_is_resumable(session.get()) != 1 ||
      IsExpired(session.get()))
    return;
  unsigned size = 0;
  const uint8_t* own = SSL_SESSION_get0_id_context(session.get(), &size);
  if (std::string_view(reinterpret_cast<const char*>(own), size) != session_context) return;
  // A refusal only costs a full handshake.
  if (SSL_set_session(ssl_.get(), session.get()) != 1) ERR_clear_error();
}

IoResult TlsStream::Handshake() {
  WEFT_DCHECK(!established_);
  if (!failure_.ok()) return IoResult::Failed(failure_);
  ERR_clear_error();
  transport_.Begin(TlsTransport::Operation::kHandshake);
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return FinishHandshake();
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return IoResult::Blocked();
  return Fail(error);
}

IoResult TlsStream::FinishHandshake() {
  SSL* ssl = ssl_.get();
  established_ = true;
  message_credit_ = kMessages;
  // Both cannot happen while SSL_VERIFY_PEER is set; they are what everything else rests on.
  if (SSL_get_verify_result(ssl) != X509_V_OK || SSL_get0_peer_certificate(ssl) == nullptr) {
    return FailWith(absl::UnauthenticatedError("was not verified"));
  }
  const uint8_t* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &size);
  alpn_ = std::string(reinterpret_cast<const char*>(protocol), size);
  if (alpn_ != kProtocol) return FailWithoutHttp2();
  resumed_ = SSL_session_reused(ssl) == 1;
  // A session of TLS 1.2 may be used again, and OpenSSL tells only of those that were not resumed.
  if (resumed_ && sessions_ != nullptr && SSL_version(ssl) == TLS1_2_VERSION)
    sessions_->Put(SSL_get1_session(ssl));
  return IoResult::Ok(0);
}

IoResult TlsStream::Read(char* to, size_t size) {
  WEFT_DCHECK(established_);
  if (!failure_.ok()) return IoResult::Failed(failure_);
  if (size == 0) return IoResult::Blocked();
  SSL* ssl = ssl_.get();
  transport_.Begin(TlsTransport::Operation::kRead);
  size_t done = 0;
  while (done < size) {
    // OpenSSL's record buffer is allocated for every try: do not try where there is nothing.
    if (transport_.drained() && SSL_has_pending(ssl) == 0)
      return IoResult::Ok(done, /*drained=*/true);
    ERR_clear_error();
    size_t moved = 0;
    const int result = SSL_read_ex(ssl, to + done, size - done, &moved);
    if (result != 1) {
      const int error = SSL_get_error(ssl, result);
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        return done > 0 ? IoResult::Ok(done, /*drained=*/true) : IoResult::Blocked();
      }
      // An end or a failure waits for the next call where bytes came before it.
      if (error == SSL_ERROR_ZERO_RETURN) return done > 0 ? IoResult::Ok(done) : IoResult::End();
      IoResult failed = Fail(error);
      return done > 0 ? IoResult::Ok(done) : failed;
    }
    done += moved;
    data_since_credit_ += moved;
    const size_t earned = data_since_credit_ / kDataPerMessage;
    data_since_credit_ %= kDataPerMessage;
    message_credit_ = static_cast<uint32_t>(std::min<size_t>(kMessages, message_credit_ + earned));
  }
  return IoResult::Ok(done);
}

IoResult TlsStream::Write(std::string_view bytes) {
  WEFT_DCHECK(established_);
  if (!failure_.ok()) return IoResult::Failed(failure_);
  transport_.Begin(TlsTransport::Operation::kWrite);
  size_t done = 0;
  while (done < bytes.size()) {
    const std::string_view rest = bytes.substr(done);
    IoResult result = held_.empty() ? WriteRecord(rest.substr(0, kRecordBytes)) : WriteHeld(rest);
    if (result.kind != IoResult::Kind::kOk) return done > 0 ? IoResult::Ok(done) : result;
    done += result.bytes;
  }
  return done > 0 ? IoResult::Ok(done) : IoResult::Blocked();
}

IoResult TlsStream::WriteRecord(std::string_view bytes) {
  ERR_clear_error();
  size_t taken = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &taken);
  if (result == 1) return IoResult::Ok(taken);
  const int error = SSL_get_error(ssl_.get(), result);
  if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return Fail(error);
  if (held_.empty()) held_ = std::string(bytes);
  return IoResult::Blocked();
}

IoResult TlsStream::WriteHeld(std::string_view bytes) {
  const size_t size = std::min(bytes.size(), held_.size());
  if (std::string_view(held_).substr(0, size) != bytes.substr(0, size)) {
    WEFT_DCHECK(false);
    return FailWith(
        absl::InternalError("was to be sent other bytes than those that TLS had begun to send"));
  }
  if (!held_sent_) {
    IoResult result = WriteRecord(held_);
    if (result.kind != IoResult::Kind::kOk) return result;
    if (result.bytes < held_.size()) {  // only where OpenSSL split it
      held_.resize(result.bytes);
    }
    held_sent_ = true;
  }
  const size_t credited = std::min(size, held_.size());
  held_.erase(0, credited);
  if (held_.empty()) {
    held_ = std::string();  // gives the memory back
    held_sent_ = false;
  }
  return IoResult::Ok(credited);
}

void TlsStream::SetWatcher(ReadyWatcher* watcher) {
  watcher_ = watcher;
  transport_.raw().SetWatcher(watcher != nullptr ? static_cast<ReadyWatcher*>(this) : nullptr);
}

void TlsStream::OnReady(bool readable, bool writable) {
  if (watcher_ == nullptr) return;
  // Either operation may be waiting for the other direction.
  const bool read = readable || (writable && transport_.read_wants_write());
  const bool write = writable || (readable && transport_.write_wants_read());
  watcher_->OnReady(read, write);
}

}  // namespace weft::inline v0::net
