// TlsServer: the server's side of TLS over a SimServerStream, played by OpenSSL and driven by the
// test, well-behaved or not.
//
//   TlsServerContext context({.certificate = MakeCertificate({.dns_names = {"a.test"}}, &ca)});
//   env.network().Listen("10.0.0.1:443", [&](SimServerStream stream) {
//     server = TlsServer::Start(context, stream);
//     server->OnBytes([&](std::string_view bytes) { server->Write(bytes); });
//   });
#ifndef WEFT_TEST_SUPPORT_TLS_SERVER_H_
#define WEFT_TEST_SUPPORT_TLS_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "support/certificates.h"
#include "support/sim_network.h"

struct ssl_ctx_st;
struct ssl_st;

namespace weft::inline v0::testing {

struct TlsServerOptions {
  TestCertificate certificate;
  std::string chain_pem = {};  // sent after the certificate
  // What it selects, whatever is offered; empty: nothing.
  std::string alpn = "h2";
  bool alert_no_alpn = false;  // "no application protocol"
  bool weak = false;           // keys and ciphers of any strength
  int min_version = 0;         // TLS1_2_VERSION, …; zero: OpenSSL's bounds
  int max_version = 0;
  int tickets =
      2;  // TLS 1.3: after the handshake; zero in TLS 1.2: neither tickets nor session ids
  std::string client_ca_pem = {};  // a client certificate of it is required
};

class TlsServerContext {
 public:
  explicit TlsServerContext(const TlsServerOptions& options);
  ~TlsServerContext();
  TlsServerContext(const TlsServerContext&) = delete;
  TlsServerContext& operator=(const TlsServerContext&) = delete;
  ssl_ctx_st* get() const { return context_; }
  const TlsServerOptions& options() const { return options_; }

 private:
  TlsServerOptions options_;
  ssl_ctx_st* context_;
};

class TlsServer : public std::enable_shared_from_this<TlsServer> {
 public:
  // The stream's callbacks keep it alive until the stream ends.
  static std::shared_ptr<TlsServer> Start(const TlsServerContext& context, SimServerStream stream);
  ~TlsServer();

  // Decrypted bytes; what came before is told at once.
  void OnBytes(std::function<void(std::string_view)> on_bytes);
  void Write(std::string_view bytes);
  // close_notify, then FIN.
  void Close();
  // One key update, `ask`: the client has to answer it.
  bool SendKeyUpdate(bool ask);
  bool SendTicket();
  bool AskForRenegotiation();  // TLS 1.2
  void Flush();

  bool established() const;
  bool resumed() const;
  bool ended() const { return ended_; }  // the client said close_notify
  const std::string& received() const { return received_; }
  const std::string& error() const { return error_; }              // OpenSSL's reason for giving up
  const std::string& server_name() const { return server_name_; }  // SNI
  std::string version() const;
  // TLS 1.3: a record that OpenSSL would not send, of any type (22: handshake, 23: data). Only
  // where the server itself sent nothing since the handshake (tickets = 0), and sends nothing
  // afterwards: the records are numbered.
  void SendForged(int type, std::string_view bytes);

  int client_key_updates() const { return client_key_updates_; }
  SimServerStream& stream() { return stream_; }
  ssl_st* ssl() { return ssl_; }

 private:
  friend class TlsServerContext;
  static void OnKey(const ssl_st* ssl, const char* line);
  TlsServer(const TlsServerContext& context, SimServerStream stream);
  void Feed(std::string_view bytes);
  void Pump();

  SimServerStream stream_;
  ssl_st* ssl_;
  bool ended_ = false;
  std::string received_;
  size_t told_ = 0;
  std::string error_;
  std::string server_name_;
  int client_key_updates_ = 0;
  std::string secret_;  // of what the server sends after the handshake, TLS 1.3
  uint64_t forged_ = 0;
  std::function<void(std::string_view)> on_bytes_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_TLS_SERVER_H_
