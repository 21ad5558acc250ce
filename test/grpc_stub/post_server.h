// A gRPC server on the loopback for the tests of stubs, and a Weft channel to it.
#ifndef WEFT_TEST_GRPC_STUB_POST_SERVER_H_
#define WEFT_TEST_GRPC_STUB_POST_SERVER_H_

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "grpcpp/server.h"
#include "stub_test.grpc.pb.h"
#include "weft/channel_factory.h"
#include "weft/grpc_stub.h"

namespace weft::stub_test {

constexpr absl::Duration kSoon = absl::Seconds(20);  // what must happen, if it takes a busy machine

inline std::chrono::system_clock::time_point In(absl::Duration time) {
  return absl::ToChronoTime(absl::Now() + time);
}

// Sends back what it gets. Metadata: "x-echo" and "x-echo-bin" come back as "x-initial" and
// "x-trailing-bin".
class PostServer final : public Post::Service {
 public:
  explicit PostServer(std::string address = "127.0.0.1:0");
  ~PostServer() override { Stop(); }
  void Stop();

  const std::string& address() const { return address_; }
  // Of calls that said `hang`: how many have come, and how many of these were cancelled.
  bool WaitForHanging(int count);
  bool WaitForCancelled(int count);
  // How many different peers have called.
  size_t peers();
  // What the last call had.
  std::multimap<std::string, std::string> metadata();
  absl::Time deadline();

  // Where calls with `inherit` are passed on to.
  void PassOnTo(std::shared_ptr<::grpc::ChannelInterface> next);
  ::grpc::Status last_passed_on();

  ::grpc::Status Unary(::grpc::ServerContext* context, const Note* request, Note* reply) override;
  ::grpc::Status Collect(::grpc::ServerContext* context, ::grpc::ServerReader<Note>* reader,
                         Note* reply) override;
  ::grpc::Status Spread(::grpc::ServerContext* context, const Note* request,
                        ::grpc::ServerWriter<Note>* writer) override;
  ::grpc::Status Chat(::grpc::ServerContext* context,
                      ::grpc::ServerReaderWriter<Note, Note>* stream) override;

 private:
  void Note_(::grpc::ServerContext* context);
  ::grpc::Status Hang(::grpc::ServerContext* context);

  std::unique_ptr<::grpc::Server> server_;
  std::string address_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int hanging_ = 0;
  int cancelled_ = 0;
  std::set<std::string> peers_;
  std::multimap<std::string, std::string> metadata_;
  absl::Time deadline_;
  std::unique_ptr<Post::Stub> next_;
  ::grpc::Status passed_on_;
};

struct World {
  explicit World(grpc::StubOptions options = {});
  std::unique_ptr<PostServer> server = std::make_unique<PostServer>();
  std::shared_ptr<ChannelFactory> factory;
  std::shared_ptr<Channel> channel;
  std::shared_ptr<::grpc::ChannelInterface> stub_channel;
  std::unique_ptr<Post::Stub> stub;
};

inline Note MakeNote(std::string text) {
  Note note;
  note.set_text(std::move(text));
  return note;
}
inline Note Hanging() {
  Note note;
  note.set_hang(true);
  return note;
}
inline Note Failing(int code, std::string error, std::string details = {}) {
  Note note;
  note.set_code(code);
  note.set_error(std::move(error));
  note.set_details(std::move(details));
  return note;
}

}  // namespace weft::stub_test

#endif  // WEFT_TEST_GRPC_STUB_POST_SERVER_H_
