// Request: what a call sends. A plain value; copy it, move it, keep it.
#ifndef WEFT_REQUEST_H_
#define WEFT_REQUEST_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "weft/body.h"
#include "weft/headers.h"

namespace weft::inline v0 {

struct Request {
  // Declared, so that Request is no aggregate: g++ 12 copies aggregates that are made within a
  // co_await expression byte by byte.
  Request() = default;

  std::string method = "GET";
  // Path and query as they go on the wire: "/v1/charges?limit=3". Begins with '/', or is "*" for
  // OPTIONS.
  std::string path = "/";
  Headers headers = {};
  // The whole body, or, where a source is set, nothing: then the source is read.
  std::string body = {};
  std::shared_ptr<BodySource> source = {};
  // Sent after a body that is in `body`; a source has its own.
  Headers trailers = {};
  // Host name that is asked for (`:authority`); empty: the channel's.
  std::string authority = {};

  static Request Get(std::string path, Headers headers = {}) {
    return Make("GET", std::move(path), {}, std::move(headers));
  }
  static Request Delete(std::string path, Headers headers = {}) {
    return Make("DELETE", std::move(path), {}, std::move(headers));
  }
  static Request Post(std::string path, std::string body = {}, Headers headers = {}) {
    return Make("POST", std::move(path), std::move(body), std::move(headers));
  }
  static Request Put(std::string path, std::string body = {}, Headers headers = {}) {
    return Make("PUT", std::move(path), std::move(body), std::move(headers));
  }

 private:
  static Request Make(const char* method, std::string path, std::string body, Headers headers) {
    Request r;
    r.method = method;
    r.path = std::move(path);
    r.body = std::move(body);
    r.headers = std::move(headers);
    return r;
  }
};

}  // namespace weft::inline v0

#endif  // WEFT_REQUEST_H_
