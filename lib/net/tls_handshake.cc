#include "net/tls_handshake.h"

#include <utility>

namespace weft::inline v0::net {

TlsHandshake::TlsHandshake(event::Loop& loop, std::unique_ptr<TlsStream> stream, DialDone done)
    : loop_(loop), stream_(std::move(stream)), done_(std::move(done)) {
  stream_->SetWatcher(this);  // begins with an edge, which begins the handshake
}

TlsHandshake::~TlsHandshake() {
  if (stream_ != nullptr) stream_->SetWatcher(nullptr);
}

void TlsHandshake::OnReady(bool, bool) {
  if (finished_) return;
  IoResult result = stream_->Handshake();
  if (result.kind == IoResult::Kind::kBlocked) return;
  FinishLater(std::move(result.status));
}

void TlsHandshake::FinishLater(absl::Status outcome) {
  finished_ = true;
  outcome_ = std::move(outcome);
  loop_.PostFunction([weak = std::weak_ptr<TlsHandshake*>(self_)] {
    if (std::shared_ptr<TlsHandshake*> self = weak.lock()) (*self)->Finish();
  });
}

void TlsHandshake::Finish() {
  std::unique_ptr<TlsStream> stream = std::move(stream_);
  if (stream != nullptr) stream->SetWatcher(nullptr);
  DialDone done = std::move(done_);
  if (outcome_.ok()) return std::move(done)(std::unique_ptr<ByteStream>(std::move(stream)));
  stream.reset();  // the descriptor is free before the next dial begins
  std::move(done)(std::move(outcome_));
}

}  // namespace weft::inline v0::net
