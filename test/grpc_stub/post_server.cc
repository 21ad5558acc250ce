#include "grpc_stub/post_server.h"

#include <utility>

#include "absl/time/clock.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace weft::stub_test {
namespace {

std::string Text(::grpc::string_ref text) { return std::string(text.data(), text.size()); }

::grpc::Status StatusOf(const Note& note) {
  return ::grpc::Status(static_cast<::grpc::StatusCode>(note.code()), note.error(), note.details());
}

Note EchoOf(const Note& note) {
  Note echo;
  echo.set_text(note.text());
  echo.set_payload(note.payload());
  return echo;
}

}  // namespace

PostServer::PostServer(std::string address) {
  ::grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, ::grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
}

void PostServer::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_ = nullptr;
}

bool PostServer::WaitForHanging(int count) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, absl::ToChronoSeconds(kSoon), [&] { return hanging_ >= count; });
}
bool PostServer::WaitForCancelled(int count) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, absl::ToChronoSeconds(kSoon), [&] { return cancelled_ >= count; });
}
size_t PostServer::peers() {
  std::lock_guard<std::mutex> lock(mutex_);
  return peers_.size();
}
std::multimap<std::string, std::string> PostServer::metadata() {
  std::lock_guard<std::mutex> lock(mutex_);
  return metadata_;
}
absl::Time PostServer::deadline() {
  std::lock_guard<std::mutex> lock(mutex_);
  return deadline_;
}
void PostServer::PassOnTo(std::shared_ptr<::grpc::ChannelInterface> next) {
  next_ = Post::NewStub(std::move(next));
}
::grpc::Status PostServer::last_passed_on() {
  std::lock_guard<std::mutex> lock(mutex_);
  return passed_on_;
}

void PostServer::Note_(::grpc::ServerContext* context) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    peers_.insert(context->peer());
    metadata_.clear();
    for (const auto& [name, value] : context->client_metadata())
      metadata_.emplace(Text(name), Text(value));
    deadline_ = absl::FromChrono(context->deadline());
  }
  for (const auto& [name, value] : context->client_metadata()) {
    if (Text(name) == "x-echo") context->AddInitialMetadata("x-initial", Text(value));
    if (Text(name) == "x-echo-bin") context->AddTrailingMetadata("x-trailing-bin", Text(value));
  }
}

::grpc::Status PostServer::Hang(::grpc::ServerContext* context) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++hanging_;
  changed_.notify_all();
  // A blocking handler has to ask.
  while (!context->IsCancelled()) changed_.wait_for(lock, std::chrono::milliseconds(1));
  ++cancelled_;
  changed_.notify_all();
  return ::grpc::Status::CANCELLED;
}

::grpc::Status PostServer::Unary(::grpc::ServerContext* context, const Note* request, Note* reply) {
  Note_(context);
  if (request->hang()) return Hang(context);
  if (request->inherit()) {
    const auto child = grpc::ChildContext(*context);
    const ::grpc::Status status = next_->Unary(child.get(), Hanging(), reply);
    std::lock_guard<std::mutex> lock(mutex_);
    passed_on_ = status;
    ++cancelled_;
    changed_.notify_all();
    return status;
  }
  *reply = EchoOf(*request);
  return StatusOf(*request);
}

::grpc::Status PostServer::Collect(::grpc::ServerContext* context,
                                   ::grpc::ServerReader<Note>* reader, Note* reply) {
  Note_(context);
  Note note;
  Note answer;
  while (reader->Read(&note)) {
    if (note.hang()) return Hang(context);
    if (note.code() != 0) return StatusOf(note);
    answer.set_text(answer.text() + note.text());
    answer.set_count(answer.count() + 1);
  }
  *reply = answer;
  return ::grpc::Status::OK;
}

::grpc::Status PostServer::Spread(::grpc::ServerContext* context, const Note* request,
                                  ::grpc::ServerWriter<Note>* writer) {
  Note_(context);
  for (int i = 0; i < request->count(); ++i) {
    Note note = EchoOf(*request);
    note.set_count(i);
    if (!writer->Write(note)) return ::grpc::Status::CANCELLED;
  }
  if (request->hang()) return Hang(context);
  return StatusOf(*request);
}

::grpc::Status PostServer::Chat(::grpc::ServerContext* context,
                                ::grpc::ServerReaderWriter<Note, Note>* stream) {
  Note_(context);
  Note note;
  while (stream->Read(&note)) {
    if (note.hang()) return Hang(context);
    if (note.code() != 0) return StatusOf(note);
    if (!stream->Write(EchoOf(note))) return ::grpc::Status::CANCELLED;
  }
  return ::grpc::Status::OK;
}

World::World(grpc::StubOptions options) {
  ChannelFactory::Options of;
  of.loops = 1;
  factory = ChannelFactory::Create(std::move(of)).value();
  channel = factory->GetChannel(server->address()).value();
  stub_channel = grpc::MakeChannel(channel, std::move(options));
  stub = Post::NewStub(stub_channel);
}

}  // namespace weft::stub_test
