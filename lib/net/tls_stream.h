// TlsStream: one TLS connection, client side, over a raw stream: first its handshake, then the
// bytes in it.
//
// Reading decrypts in OpenSSL's own record buffer and copies once, to the reader. Writing encrypts
// one record of at most 16 KiB at a time and hands it to the raw stream. Buffers are given back
// whenever they are empty: an idle connection holds none.
//
// Messages after the handshake (session tickets, key updates) are bounded by the data that comes
// with them, and everything that would change the terms of the connection (renegotiation, a request
// for a certificate) ends it.
#ifndef WEFT_LIB_NET_TLS_STREAM_H_
#define WEFT_LIB_NET_TLS_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "net/byte_stream.h"
#include "net/tls.h"
#include "net/tls_bio.h"
#include "net/tls_openssl.h"
#include "net/tls_verify.h"

namespace weft::inline v0::net {

class TlsStream final : public ByteStream, private ReadyWatcher {
 public:
  // Callbacks of every connection of `context`.
  static void Install(SSL_CTX* context);

  // A session taken from `sessions` (null: none) is only resumed where `context_id` and the name
  // are the same as when it was made: a resumed session is not verified again. What is wrong with
  // `server_name` the handshake tells, before any byte.
  static std::unique_ptr<TlsStream> Create(SSL_CTX* context, std::string_view context_id,
                                           std::string_view server_name,
                                           std::unique_ptr<ByteStream> raw,
                                           std::shared_ptr<TlsSessionCache> sessions);
  // Says close_notify if that can be done without waiting.
  ~TlsStream() override;

  // To be called again at every edge while kBlocked. kOk: the peer is verified and speaks HTTP/2;
  // only then may bytes be read and written. kFailed: as TlsContext::Handshake says.
  IoResult Handshake();

  // Fills `to` from as many records as there are.
  IoResult Read(char* to, size_t size) override;
  // Bytes that were not taken have to be written again before others: they may be encrypted
  // already, and cannot be unsaid.
  IoResult Write(std::string_view bytes) override;
  void SetWatcher(ReadyWatcher* watcher) override;
  std::string_view alpn() const override { return alpn_; }
  bool resumed() const { return resumed_; }

 private:
  TlsStream(std::unique_ptr<ByteStream> raw, std::shared_ptr<TlsSessionCache> sessions)
      : transport_(std::move(raw)), sessions_(std::move(sessions)) {}

  static int OnVerify(int ok, X509_STORE_CTX* store);
  static int OnNewSession(SSL* ssl, SSL_SESSION* session);
  static void OnMessage(int sent, int version, int type, const void* data, size_t size, SSL* ssl,
                        void* self);
  static void OnExtension(SSL* ssl, int received, int type, const uint8_t* data, int size,
                          void* unused);
  void OnReady(bool readable, bool writable) override;

  absl::Status Start(SSL_CTX* context, std::string_view context_id, std::string_view server_name);
  void OfferSession(std::string_view session_context);
  IoResult FinishHandshake();
  IoResult FailWithoutHttp2();
  void OnHandshakeMessage(uint8_t type);
  void Refuse(std::string_view violation);
  // What a failed call into OpenSSL means; remembered, as OpenSSL does not say it twice.
  IoResult Fail(int ssl_error);
  IoResult FailWith(absl::Status status);
  IoResult WriteRecord(std::string_view bytes);
  IoResult WriteHeld(std::string_view bytes);

  TlsIdentity identity_;
  TlsTransport transport_;  // before ssl_, which uses it until its end
  const std::shared_ptr<TlsSessionCache> sessions_;
  SslPtr ssl_;
  ReadyWatcher* watcher_ = nullptr;  // the loop's thread
  bool established_ = false;
  bool resumed_ = false;
  // After a fatal error nothing can be said any more, not even close_notify.
  bool tls_broken_ = false;
  std::string alpn_;
  absl::Status failure_;
  std::string certificate_problem_;
  std::string violation_;

  // Of a record that the raw stream did not take whole: its plain bytes, and whether it has left
  // since. The owner was told that they were not taken, and writes them once more.
  std::string held_;
  bool held_sent_ = false;

  uint32_t message_credit_ = 0;
  size_t data_since_credit_ = 0;
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_TLS_STREAM_H_
