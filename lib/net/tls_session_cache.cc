#include <openssl/ssl.h>

#include <utility>

#include "net/tls.h"

namespace weft::inline v0::net {

TlsSessionCache::~TlsSessionCache() { SSL_SESSION_free(session_); }

void TlsSessionCache::Put(ssl_session_st* session) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::swap(session_, session);
  }
  SSL_SESSION_free(session);
}

ssl_session_st* TlsSessionCache::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(session_, nullptr);
}

}  // namespace weft::inline v0::net
