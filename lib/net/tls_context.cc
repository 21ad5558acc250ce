#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "net/tls.h"
#include "net/tls_error.h"
#include "net/tls_handshake.h"
#include "net/tls_openssl.h"
#include "net/tls_stream.h"

namespace weft::inline v0::net {
namespace {

// Forward secrecy and an AEAD: what RFC 9113 section 9.2.2 leaves of TLS 1.2. TLS 1.3 has no
// others.
constexpr char kTls12Ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
// 112 bits: RSA from 2048, no SHA-1.
constexpr int kSecurityLevel = 2;
// Several records per system call; the buffer exists only while it is in use.
constexpr size_t kReadBufferBytes = 64 * 1024;
constexpr size_t kContextIdBytes = 16;

absl::Status Invalid(std::string_view option, const std::string& file) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(option), " \"", file, "\": ", TakeOpenSslReason()));
}

absl::Status AddRoots(SSL_CTX* context, const std::string& pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (bio == nullptr) return absl::ResourceExhaustedError("no memory for TLS");
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  int count = 0;
  for (;;) {
    X509Ptr certificate(PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr));
    if (certificate == nullptr) break;
    if (X509_STORE_add_cert(store, certificate.get()) != 1) {
      return absl::InvalidArgumentError(absl::StrCat("ca_pem: ", TakeOpenSslReason()));
    }
    ++count;
  }
  // Reading stops at the end of the text with "no start line"; with anything else at a broken
  // certificate.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (count > 0 && at_end) {
    ERR_clear_error();
    return absl::OkStatus();
  }
  if (at_end) {
    ERR_clear_error();
    return absl::InvalidArgumentError("ca_pem: holds no certificate");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ca_pem: certificate ", count + 1, ": ", TakeOpenSslReason()));
}

absl::Status LoadRoots(SSL_CTX* context, const TlsOptions& options) {
  if (options.ca_file.empty() && options.ca_pem.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the system's root certificates: ", TakeOpenSslReason()));
  }
  if (!options.ca_file.empty() && SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1) {
    return Invalid("ca_file", options.ca_file);
  }
  return options.ca_pem.empty() ? absl::OkStatus() : AddRoots(context, options.ca_pem);
}

// OpenSSL's own would ask on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

absl::Status LoadOwnCertificate(SSL_CTX* context, const TlsOptions& options) {
  const std::string& certificate = options.certificate_file;
  const std::string& key = options.key_file;
  if (certificate.empty() && key.empty()) return absl::OkStatus();
  if (key.empty()) return absl::InvalidArgumentError("certificate_file is set, key_file is not");
  if (certificate.empty())
    return absl::InvalidArgumentError("key_file is set, certificate_file is not");
  SSL_CTX_set_default_passwd_cb(context, &NoPassword);
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return Invalid("certificate_file", certificate);
  }
  const auto mismatch = [&] {
    ERR_clear_error();
    return absl::InvalidArgumentError(absl::StrCat(
        "key_file \"", key, "\" does not belong to certificate_file \"", certificate, "\""));
  };
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    const unsigned long error = ERR_peek_last_error();
    const bool foreign = ERR_GET_LIB(error) == ERR_LIB_X509 &&
                         (ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH ||
                          ERR_GET_REASON(error) == X509_R_KEY_TYPE_MISMATCH);
    return foreign ? mismatch() : Invalid("key_file", key);
  }
  // A key of another kind than the certificate's is only noticed here.
  if (SSL_CTX_check_private_key(context) != 1) return mismatch();
  return absl::OkStatus();
}

absl::Status SetRules(SSL_CTX* context) {
  static constexpr uint8_t kAlpn[] = {2, 'h', '2'};
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_security_level(context, kSecurityLevel);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadBufferBytes);
  TlsStream::Install(context);
  const bool set = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
                   SSL_CTX_set_max_proto_version(context, 0) == 1 &&
                   SSL_CTX_set_cipher_list(context, kTls12Ciphers) == 1 &&
                   SSL_CTX_set_alpn_protos(context, kAlpn, sizeof kAlpn) == 0;
  if (set) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("OpenSSL cannot do what HTTP/2 needs: ", TakeOpenSslReason()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Create(const TlsOptions& options) {
  // A factory of static duration ends after OpenSSL's own cleanup at exit would have run, with
  // connections open. No effect where the process has set OpenSSL up in its own way before.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  ERR_clear_error();
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  std::string id(kContextIdBytes, '\0');
  if (context == nullptr ||
      RAND_bytes(reinterpret_cast<uint8_t*>(id.data()), static_cast<int>(id.size())) != 1) {
    return absl::ResourceExhaustedError(absl::StrCat("no TLS: ", TakeOpenSslReason()));
  }
  if (absl::Status status = SetRules(context.get()); !status.ok()) return status;
  if (absl::Status status = LoadRoots(context.get(), options); !status.ok()) return status;
  if (absl::Status status = LoadOwnCertificate(context.get(), options); !status.ok()) return status;
  return std::shared_ptr<TlsContext>(new TlsContext(context.release(), std::move(id)));
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

std::unique_ptr<Dial> TlsContext::Handshake(event::Loop& loop, std::unique_ptr<ByteStream> raw,
                                            const std::string& server_name,
                                            std::shared_ptr<TlsSessionCache> sessions,
                                            DialDone done) {
  return std::make_unique<TlsHandshake>(
      loop, TlsStream::Create(context_, id_, server_name, std::move(raw), std::move(sessions)),
      std::move(done));
}

}  // namespace weft::inline v0::net
