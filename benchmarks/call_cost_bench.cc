// call_cost_bench: what one steady unary call costs in things that can be counted: heap allocations
// (operator new, the user's own Request and Response included), mutexes locked, and context
// switches of the whole process.
//
//   call_cost_bench --port=P      an echo server as call_bench needs it
#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "weft/weft.h"

namespace {

std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> locks{0};

using LockFunction = int (*)(pthread_mutex_t*);

}  // namespace

void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto real = reinterpret_cast<LockFunction>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks.fetch_add(1, std::memory_order_relaxed);
  return real(mutex);
}

namespace {

struct Counts {
  uint64_t allocations;
  uint64_t locks;
  int64_t switches;

  static Counts Now() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return {::allocations.load(), ::locks.load(), usage.ru_nvcsw + usage.ru_nivcsw};
  }
};

void Print(const char* name, const Counts& before, int calls) {
  const Counts after = Counts::Now();
  const auto each = [calls](auto n) { return static_cast<double>(n) / calls; };
  std::printf("%-8s per call: %5.2f allocations, %5.2f locks, %5.2f context switches\n", name,
              each(after.allocations - before.allocations), each(after.locks - before.locks),
              each(after.switches - before.switches));
}

weft::Request Echo() {
  // An empty message in gRPC's five-byte frame: the server answers with 64 bytes.
  return weft::Request::Post("/bench.Echo/Call", std::string(5, '\0'),
                             {{"te", "trailers"}, {"content-type", "application/grpc"}});
}

// `width` calls outstanding, each started again from the callback of the one before.
struct Chains {
  weft::Channel& channel;
  std::atomic<int> left;
  std::atomic<int> running;

  void Next() {
    if (left.fetch_sub(1) <= 0) {
      if (running.fetch_sub(1) == 1) running.notify_one();
      return;
    }
    channel
        .Start(Echo(), {},
               [this](absl::StatusOr<weft::Response> response) {
                 if (!response.ok()) {
                   std::fprintf(stderr, "%s\n", response.status().ToString().c_str());
                   std::exit(1);
                 }
                 Next();
               })
        .Detach();
  }
  void Run(int width) {
    running = width;
    for (int i = 0; i < width; ++i) Next();
    for (int now = running.load(); now > 0; now = running.load()) running.wait(now);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string port = argc == 2 ? std::string(argv[1]).substr(7) : "7002";
  auto factory = weft::ChannelFactory::Create().value();
  auto channel = factory->GetChannel("127.0.0.1:" + port).value();
  if (absl::Status ready = channel->WaitForReady(absl::Seconds(5)); !ready.ok()) {
    std::fprintf(stderr, "%s\n", ready.ToString().c_str());
    return 1;
  }
  constexpr int kCalls = 100000;
  const auto async = [&](int width, int calls) { Chains{*channel, calls, 0}.Run(width); };
  async(128, kCalls);  // warm
  Counts before = Counts::Now();
  async(1, kCalls / 10);
  Print("async:1", before, kCalls / 10);
  before = Counts::Now();
  async(128, kCalls);
  Print("async:128", before, kCalls);
  before = Counts::Now();
  for (int i = 0; i < kCalls / 10; ++i) {
    if (!channel->Call(Echo()).ok()) return 1;
  }
  Print("sync:1", before, kCalls / 10);
  return 0;
}
