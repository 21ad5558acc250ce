#include "support/tls_server.h"

#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weft::inline v0::testing {
namespace {

void Require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("TLS server: ") + what);
}

X509* ParseCertificate(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  Require(certificate != nullptr, "certificate");
  return certificate;
}

// HKDF-Expand-Label of RFC 8446 section 7.1, without context.
std::string Expand(const EVP_MD* digest, std::string secret, std::string label, size_t size) {
  EVP_KDF* kdf = EVP_KDF_fetch(nullptr, "TLS13-KDF", nullptr);
  EVP_KDF_CTX* context = EVP_KDF_CTX_new(kdf);
  std::string name = EVP_MD_get0_name(digest), mode = "EXPAND_ONLY", prefix = "tls13 ",
              out(size, '\0');
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string("digest", name.data(), 0),
      OSSL_PARAM_construct_utf8_string("mode", mode.data(), 0),
      OSSL_PARAM_construct_octet_string("key", secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string("prefix", prefix.data(), prefix.size()),
      OSSL_PARAM_construct_octet_string("label", label.data(), label.size()),
      OSSL_PARAM_construct_end(),
  };
  Require(EVP_KDF_derive(context, reinterpret_cast<unsigned char*>(out.data()), size, params) == 1,
          "key");
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  return out;
}

std::string FromHex(std::string_view text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

int SelectAlpn(SSL*, const unsigned char** out, unsigned char* size, const unsigned char*, unsigned,
               void* argument) {
  const auto* options = static_cast<const TlsServerOptions*>(argument);
  if (options->alert_no_alpn) return SSL_TLSEXT_ERR_ALERT_FATAL;
  if (options->alpn.empty()) return SSL_TLSEXT_ERR_NOACK;
  *out = reinterpret_cast<const unsigned char*>(options->alpn.data());
  *size = static_cast<unsigned char>(options->alpn.size());
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsServerContext::TlsServerContext(const TlsServerOptions& options)
    : options_(options), context_(SSL_CTX_new(TLS_server_method())) {
  Require(context_ != nullptr, "context");
  // The versions that a client must refuse are only spoken at the lowest level.
  if (options.weak || (options.max_version != 0 && options.max_version < TLS1_2_VERSION)) {
    SSL_CTX_set_security_level(context_, 0);
    SSL_CTX_set_cipher_list(context_, "ALL:@SECLEVEL=0");
  }
  SSL_CTX_set_min_proto_version(context_, options.min_version);
  SSL_CTX_set_max_proto_version(context_, options.max_version);
  Require(SSL_CTX_use_certificate(context_, options.certificate.certificate.get()) == 1 &&
              SSL_CTX_use_PrivateKey(context_, options.certificate.key.get()) == 1,
          "certificate");
  if (!options.chain_pem.empty()) {
    SSL_CTX_add_extra_chain_cert(context_, ParseCertificate(options.chain_pem));
  }
  SSL_CTX_set_num_tickets(context_, static_cast<size_t>(options.tickets));
  if (options.tickets == 0) {
    SSL_CTX_set_options(context_, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  }
  const unsigned char id[] = {1};
  SSL_CTX_set_session_id_context(context_, id, sizeof id);
  SSL_CTX_set_alpn_select_cb(context_, &SelectAlpn, &options_);
  if (!options.client_ca_pem.empty()) {
    X509* ca = ParseCertificate(options.client_ca_pem);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), ca);
    X509_free(ca);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  SSL_CTX_set_keylog_callback(context_, &TlsServer::OnKey);
  ERR_clear_error();
}

TlsServerContext::~TlsServerContext() { SSL_CTX_free(context_); }

std::shared_ptr<TlsServer> TlsServer::Start(const TlsServerContext& context,
                                            SimServerStream stream) {
  std::shared_ptr<TlsServer> server(new TlsServer(context, stream));
  stream.OnBytes([server](std::string_view bytes) { server->Feed(bytes); });
  return server;
}

TlsServer::TlsServer(const TlsServerContext& context, SimServerStream stream)
    : stream_(std::move(stream)), ssl_(SSL_new(context.get())) {
  Require(ssl_ != nullptr, "connection");
  SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_accept_state(ssl_);
  SSL_set_app_data(ssl_, this);
  SSL_set_msg_callback_arg(ssl_, this);
  SSL_set_msg_callback(
      ssl_, [](int sent, int, int type, const void* data, size_t size, SSL*, void* self) {
        if (sent == 0 && type == SSL3_RT_HANDSHAKE && size > 0 &&
            *static_cast<const unsigned char*>(data) == SSL3_MT_KEY_UPDATE) {
          ++static_cast<TlsServer*>(self)->client_key_updates_;
        }
      });
}

TlsServer::~TlsServer() { SSL_free(ssl_); }

void TlsServer::OnKey(const ssl_st* ssl, const char* line) {
  const std::string_view text = line;  // "SERVER_TRAFFIC_SECRET_0 <client random> <secret>"
  if (!text.starts_with("SERVER_TRAFFIC_SECRET_0 ")) return;
  auto* self = static_cast<TlsServer*>(
      SSL_get_app_data(ssl));  // none where a test plays the server by itself
  if (self != nullptr) self->secret_ = FromHex(text.substr(text.rfind(' ') + 1));
}

void TlsServer::OnBytes(std::function<void(std::string_view)> on_bytes) {
  on_bytes_ = std::move(on_bytes);
  Pump();
}

void TlsServer::Feed(std::string_view bytes) {
  BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
  Pump();
}

void TlsServer::Pump() {
  ERR_clear_error();
  char buffer[16384];
  while (error_.empty()) {
    size_t size = 0;
    const int result = SSL_read_ex(ssl_, buffer, sizeof buffer, &size);
    if (result == 1) {
      received_.append(buffer, size);
      continue;
    }
    const int error = SSL_get_error(ssl_, result);
    if (error == SSL_ERROR_ZERO_RETURN) ended_ = true;
    if (error == SSL_ERROR_SSL) {
      const char* reason = ERR_reason_error_string(ERR_get_error());
      error_ = reason != nullptr ? reason : "unknown";
    }
    break;
  }
  if (const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name)) server_name_ = name;
  ERR_clear_error();
  Flush();
  if (on_bytes_ && told_ < received_.size()) {
    const std::string fresh = received_.substr(std::exchange(told_, received_.size()));
    on_bytes_(fresh);
  }
}

void TlsServer::Flush() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(ssl_), &data);
  if (size > 0) {
    const std::string out(data, static_cast<size_t>(size));
    (void)BIO_reset(SSL_get_wbio(ssl_));
    stream_.Write(out);
  }
}

void TlsServer::Write(std::string_view bytes) {
  if (!bytes.empty()) SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
  ERR_clear_error();
  Flush();
}

void TlsServer::Close() {
  SSL_shutdown(ssl_);
  ERR_clear_error();
  Flush();
  stream_.CloseWrite();
}

bool TlsServer::SendKeyUpdate(bool ask) {
  const bool ok =
      SSL_key_update(ssl_, ask ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
      SSL_do_handshake(ssl_) == 1;
  ERR_clear_error();
  Flush();
  return ok;
}

bool TlsServer::SendTicket() {
  const bool ok = SSL_new_session_ticket(ssl_) == 1 && SSL_do_handshake(ssl_) == 1;
  ERR_clear_error();
  Flush();
  return ok;
}

bool TlsServer::AskForRenegotiation() {
  const bool ok = SSL_renegotiate(ssl_) == 1;
  SSL_do_handshake(ssl_);
  ERR_clear_error();
  Flush();
  return ok;
}

void TlsServer::SendForged(int type, std::string_view bytes) {
  const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl_);
  const EVP_MD* digest = SSL_CIPHER_get_handshake_digest(cipher);
  const EVP_CIPHER* aead = EVP_get_cipherbynid(SSL_CIPHER_get_cipher_nid(cipher));
  const std::string key =
      Expand(digest, secret_, "key", static_cast<size_t>(EVP_CIPHER_get_key_length(aead)));
  std::string nonce = Expand(digest, secret_, "iv", 12);
  for (size_t i = 0; i < 8; ++i) nonce[11 - i] = char(nonce[11 - i] ^ char(forged_ >> (8 * i)));
  ++forged_;

  std::string plain(bytes);
  plain.push_back(static_cast<char>(type));
  constexpr size_t kTag = 16;
  const size_t size = plain.size() + kTag;
  std::string record = {23, 3, 3, static_cast<char>(size >> 8), static_cast<char>(size & 255)};
  std::string sealed(size, '\0');
  const auto u8 = [](std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); };
  int moved = 0;
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  std::string key_copy = key;
  Require(
      EVP_EncryptInit_ex(context, aead, nullptr, u8(key_copy), u8(nonce)) == 1 &&
          EVP_EncryptUpdate(context, nullptr, &moved, u8(record),
                            static_cast<int>(record.size())) == 1 &&
          EVP_EncryptUpdate(context, u8(sealed), &moved, u8(plain),
                            static_cast<int>(plain.size())) == 1 &&
          EVP_EncryptFinal_ex(context, u8(sealed) + moved, &moved) == 1 &&
          EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTag, u8(sealed) + plain.size()) == 1,
      "forged record");
  EVP_CIPHER_CTX_free(context);
  stream_.Write(record + sealed);
}

bool TlsServer::established() const { return SSL_is_init_finished(ssl_) == 1; }
bool TlsServer::resumed() const { return SSL_session_reused(ssl_) == 1; }
std::string TlsServer::version() const { return SSL_get_version(ssl_); }

}  // namespace weft::inline v0::testing
