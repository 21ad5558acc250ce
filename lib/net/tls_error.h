// Words for what OpenSSL says went wrong, and what a peer wrote, made fit for messages.
#ifndef WEFT_LIB_NET_TLS_ERROR_H_
#define WEFT_LIB_NET_TLS_ERROR_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::inline v0::net {

// The first entry of this thread's error queue in words ("No such file or directory"); empties the
// queue.
std::string TakeOpenSslReason();

// The same for a failed handshake, read or write, fit for "10.0.0.7:8080 …": "sent the TLS alert
// \"unknown ca\"".
std::string TakeTlsProblem();

// `text` from a peer, cut after `limit` bytes, with quotes and everything but printable ASCII as
// \xNN.
std::string Printable(std::string_view text, size_t limit);

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_TLS_ERROR_H_
