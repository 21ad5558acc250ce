// Owning pointers for OpenSSL's objects.
#ifndef WEFT_LIB_NET_TLS_OPENSSL_H_
#define WEFT_LIB_NET_TLS_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

namespace weft::inline v0::net {

template <auto kFree>
struct OpenSslFree {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using SslPtr = std::unique_ptr<SSL, OpenSslFree<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslFree<SSL_CTX_free>>;
using SslSessionPtr = std::unique_ptr<SSL_SESSION, OpenSslFree<SSL_SESSION_free>>;
using X509Ptr = std::unique_ptr<X509, OpenSslFree<X509_free>>;
using BioPtr = std::unique_ptr<BIO, OpenSslFree<BIO_free_all>>;

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_TLS_OPENSSL_H_
