// What the benchmarks of unary calls have in common: the channel that the callers share, and the
// look at an answer.
#ifndef WEFT_BENCHMARKS_BENCH_CLIENT_H_
#define WEFT_BENCHMARKS_BENCH_CLIENT_H_

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "arguments.h"
#include "weft/weft.h"

namespace weft::bench {

// Ends the program where it could not be made.
template <class T>
T OrEnd(absl::StatusOr<T> made) {
  if (made.ok()) return *std::move(made);
  std::fprintf(stderr, "%s\n", made.status().ToString().c_str());
  std::exit(1);
}

// A factory with one channel, by the arguments `loops` and `port`.
struct Client {
  explicit Client(const Arguments& args)
      : factory(OrEnd(ChannelFactory::Create({.loops = args.Int("loops")}))),
        channel(OrEnd(factory->GetChannel("127.0.0.1:" + args.Text("port")))) {}
  const std::shared_ptr<ChannelFactory> factory;
  const std::shared_ptr<Channel> channel;
};

// Whether there is an answer, and `is_right` says so of it. Shows an error.
template <class Answer, class IsRight>
bool IsGood(const absl::StatusOr<Answer>& answer, IsRight is_right) {
  if (answer.ok()) return is_right(*answer);
  std::fprintf(stderr, "%s\n", answer.status().ToString().c_str());
  return false;
}

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_BENCH_CLIENT_H_
