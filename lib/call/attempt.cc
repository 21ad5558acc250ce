#include "call/attempt.h"

#include <utility>

#include "call/call.h"

namespace weft::inline v0::call {

http::BodyPiece Attempt::ReadBody(char* to, size_t size) {
  const http::BodyPiece piece = call_.ReadBody(*this, to, size);
  if (piece.bytes > 0) Touch();
  return piece;
}
const Headers* Attempt::RequestTrailers() { return &call_.request_trailers(); }
void Attempt::OnHead(int status, Headers headers) {
  Touch();
  call_.TakeReport(*this, headers);
  answer.status = status;
  answer.headers = std::move(headers);
  call_.OnHead(*this);
}
void Attempt::OnData(std::string_view bytes) {
  Touch();
  call_.OnData(*this, bytes);
}
void Attempt::OnTrailers(Headers trailers) {
  call_.TakeReport(*this, trailers);
  answer.trailers = std::move(trailers);
}
http::RequestHead Attempt::RequestHeadFor(bool tls) { return call_.MakeHead(*this, tls); }
base::MonoTime Attempt::OnLook() { return call_.OnLook(*this); }
void Attempt::OnExchangeEnd(http::StreamEnd how) { call_.OnAttemptEnd(*this, std::move(how)); }
void Attempt::Keep() { call_.Retain(); }
void Attempt::Drop() { call_.Release(); }

}  // namespace weft::inline v0::call
