#include "echo_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <random>
#include <string_view>
#include <unordered_map>

namespace weft::bench {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

nghttp2_nv Field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));  // nghttp2 only reads them
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

struct Stream {
  std::string request;  // its first bytes
  std::string answer;
  size_t sent = 0;
};

// Behind gRPC's five-byte prefix: {int32 resp_size = 1; bytes payload = 2}.
size_t AskedSize(std::string_view request) {
  constexpr size_t kOtherwise = 64;
  if (request.size() < 7 || request[5] != 0x08) return kOtherwise;
  size_t size = 0;
  for (size_t i = 6, shift = 0; i < request.size() && shift < 28; ++i, shift += 7) {
    size |= static_cast<size_t>(request[i] & 0x7f) << shift;
    if ((request[i] & 0x80) == 0) return size;
  }
  return kOtherwise;
}

// {bytes payload = 2}, framed likewise.
std::string Answer(size_t payload) {
  std::string message;
  if (payload > 0) {
    message.push_back(0x12);
    size_t left = payload;
    for (; left >= 0x80; left >>= 7) message.push_back(static_cast<char>(left | 0x80));
    message.push_back(static_cast<char>(left));
    message.append(payload, 'x');
  }
  std::string framed(1, '\0');
  for (const int shift : {24, 16, 8, 0})
    framed.push_back(static_cast<char>(message.size() >> shift));
  return framed + message;
}

class Connection;

class Server {
 public:
  Server(int listener, const EchoServerOptions& options)
      : options_(options), listener_(listener), random_(options.seed) {}
  [[noreturn]] void Run();

  void Watch(int operation, int fd, uint32_t events, Connection* connection) {
    epoll_event event{events, {.ptr = connection}};
    if (epoll_ctl(epoll_, operation, fd, &event) != 0) Fail("epoll_ctl");
  }
  // False: it is answered later.
  bool MayAnswerNow(Connection* connection, int32_t stream) {
    if (std::uniform_real_distribution<>()(random_) >= options_.slow_share) return true;
    late_.push_back({Clock::now() + options_.slow_by, connection, stream});
    return false;
  }
  void CountStreams(int more) { in_flight_ += more; }
  // Beside the one that is being answered. Empty where it tells nothing.
  std::string LoadReport() const {
    if (options_.workers == 0) return "";
    return "TEXT named_metrics.weft.in_flight=" + std::to_string(in_flight_ - 1) +
           ", named_metrics.weft.workers=" + std::to_string(options_.workers);
  }

 private:
  struct Late {
    Clock::time_point due;
    Connection* connection;
    int32_t stream;
  };

  int UntilNextLate() const;
  void AnswerLate();
  void Accept();
  void Close(Connection* connection);

  const EchoServerOptions options_;
  const int listener_;
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::mt19937_64 random_;
  std::deque<Late> late_;  // in order of time: all are late by as much
  int in_flight_ = 0;      // of all connections
};

class Connection {
 public:
  Connection(Server& server, int fd);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False: the connection is over.
  bool OnEvents(uint32_t events);
  bool Flush();
  // Nothing happens where the stream was reset meanwhile.
  void AnswerTo(int32_t id);

 private:
  static int OnBegin(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* self);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnClose(nghttp2_session*, int32_t id, uint32_t, void* self);
  static ssize_t Read(nghttp2_session* session, int32_t id, uint8_t* to, size_t size,
                      uint32_t* flags, nghttp2_data_source* source, void*);

  Server& server_;
  const int fd_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, Stream> streams_;
  std::string unsent_;
  bool watches_out_ = false;
};

Connection::Connection(Server& server, int fd) : server_(server), fd_(fd) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBegin);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
  nghttp2_session_server_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 10000},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 24}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 1 << 30);
  server_.Watch(EPOLL_CTL_ADD, fd_, EPOLLIN, this);
}

Connection::~Connection() {
  server_.CountStreams(-static_cast<int>(streams_.size()));
  nghttp2_session_del(session_);
  close(fd_);
}

bool Connection::OnEvents(uint32_t events) {
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    static uint8_t buffer[256 << 10];
    const ssize_t size = read(fd_, buffer, sizeof buffer);
    if (size == 0 || (size < 0 && errno != EAGAIN)) return false;
    if (size > 0 && nghttp2_session_mem_recv(session_, buffer, static_cast<size_t>(size)) < 0)
      return false;
  }
  return Flush();
}

bool Connection::Flush() {
  for (;;) {
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return false;
    if (size == 0) break;
    unsent_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
  }
  if (!unsent_.empty()) {
    const ssize_t sent = send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return false;
    unsent_.erase(0, static_cast<size_t>(std::max<ssize_t>(sent, 0)));
  }
  if (watches_out_ != !unsent_.empty()) {
    watches_out_ = !unsent_.empty();
    server_.Watch(EPOLL_CTL_MOD, fd_, watches_out_ ? EPOLLIN | EPOLLOUT : EPOLLIN, this);
  }
  return watches_out_ || nghttp2_session_want_read(session_) != 0;
}

int Connection::OnBegin(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  connection.streams_.try_emplace(frame->hd.stream_id);
  connection.server_.CountStreams(1);
  return 0;
}

int Connection::OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                       void* self) {
  constexpr size_t kEnough = 16;
  std::string& request = static_cast<Connection*>(self)->streams_[id].request;
  request.append(reinterpret_cast<const char*>(data), std::min(size, kEnough - request.size()));
  return 0;
}

int Connection::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  const bool may_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
  if (!may_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  if (connection.server_.MayAnswerNow(&connection, frame->hd.stream_id))
    connection.AnswerTo(frame->hd.stream_id);
  return 0;
}

void Connection::AnswerTo(int32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  stream.answer = Answer(AskedSize(stream.request));
  const std::string report = server_.LoadReport();
  const nghttp2_nv fields[] = {Field(":status", "200"), Field("content-type", "application/grpc"),
                               Field("endpoint-load-metrics", report)};
  const nghttp2_data_provider body = {.source = {.ptr = &stream}, .read_callback = Read};
  nghttp2_submit_response(session_, id, fields, report.empty() ? 2 : 3, &body);
}

ssize_t Connection::Read(nghttp2_session* session, int32_t id, uint8_t* to, size_t size,
                         uint32_t* flags, nghttp2_data_source* source, void*) {
  auto& stream = *static_cast<Stream*>(source->ptr);
  const size_t n = std::min(size, stream.answer.size() - stream.sent);
  std::memcpy(to, stream.answer.data() + stream.sent, n);
  stream.sent += n;
  if (stream.sent == stream.answer.size()) {
    *flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const nghttp2_nv status = Field("grpc-status", "0");
    nghttp2_submit_trailer(session, id, &status, 1);
  }
  return static_cast<ssize_t>(n);
}

int Connection::OnClose(nghttp2_session*, int32_t id, uint32_t, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  if (connection.streams_.erase(id) > 0) connection.server_.CountStreams(-1);
  return 0;
}

void Server::Run() {
  Watch(EPOLL_CTL_ADD, listener_, EPOLLIN, nullptr);
  for (;;) {
    epoll_event events[64];
    const int n = epoll_wait(epoll_, events, std::size(events), UntilNextLate());
    for (int i = 0; i < n; ++i) {
      auto* const connection = static_cast<Connection*>(events[i].data.ptr);
      if (connection == nullptr) {
        Accept();
      } else if (!connection->OnEvents(events[i].events)) {
        Close(connection);
      }
    }
    AnswerLate();
  }
}

int Server::UntilNextLate() const {
  if (late_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(late_.front().due - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

void Server::AnswerLate() {
  if (late_.empty()) return;
  const Clock::time_point now = Clock::now();
  for (; !late_.empty() && late_.front().due <= now; late_.pop_front()) {
    late_.front().connection->AnswerTo(late_.front().stream);
    // One that is broken is closed when its end is read.
    late_.front().connection->Flush();
  }
}

void Server::Accept() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  new Connection(*this, fd);  // until Close
}

void Server::Close(Connection* connection) {
  std::erase_if(late_, [connection](const Late& late) { return late.connection == connection; });
  delete connection;
}

}  // namespace

EchoServer::EchoServer(const EchoServerOptions& options) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, any, size) != 0 || listen(listener, SOMAXCONN) != 0 ||
      getsockname(listener, any, &size) != 0)
    Fail("the echo server cannot listen");
  port_ = ntohs(address.sin_port);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) Fail("fork");
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    Server(listener, options).Run();
  }
  close(listener);
}

EchoServer::~EchoServer() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

}  // namespace weft::bench
