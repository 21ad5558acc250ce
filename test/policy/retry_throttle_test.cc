#include "policy/retry_throttle.h"

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace weft::policy {
namespace {

TEST_CASE("a new throttle is full and allows") {
  const RetryThrottle throttle({.max_tokens = 10, .token_ratio = 0.1});
  CHECK(throttle.tokens() == 10);
  CHECK(throttle.Allows());
}

TEST_CASE("a throttle that takes another's place is as full as that was") {
  RetryThrottle old({.max_tokens = 10, .token_ratio = 0.1});
  for (int i = 0; i < 6; ++i) old.OnFailure();
  const RetryThrottle larger({.max_tokens = 1000, .token_ratio = 1}, &old);
  CHECK(larger.tokens() == 400);
  CHECK_FALSE(larger.Allows());
  const RetryThrottle smaller({.max_tokens = 5, .token_ratio = 1}, &old);
  CHECK(smaller.tokens() == 2);
}

TEST_CASE("extra attempts end at half of the tokens, and not before") {
  RetryThrottle throttle({.max_tokens = 10, .token_ratio = 0.1});
  for (int i = 0; i < 4; ++i) throttle.OnFailure();
  CHECK(throttle.tokens() == 6);
  CHECK(throttle.Allows());
  throttle.OnFailure();
  CHECK(throttle.tokens() == 5);
  CHECK_FALSE(throttle.Allows());
  throttle.OnSuccess();
  CHECK(throttle.tokens() == 5.1);
  CHECK(throttle.Allows());
}

TEST_CASE("half of an odd number of tokens is not rounded") {
  RetryThrottle throttle({.max_tokens = 5, .token_ratio = 0.5});
  throttle.OnFailure();
  throttle.OnFailure();
  CHECK(throttle.Allows());  // 3 of 5
  throttle.OnFailure();
  CHECK_FALSE(throttle.Allows());  // 2 of 5
  throttle.OnSuccess();
  CHECK(throttle.tokens() == 2.5);
  CHECK_FALSE(throttle.Allows());  // half
  throttle.OnSuccess();
  CHECK(throttle.Allows());
}

TEST_CASE("tokens stay between none and all") {
  RetryThrottle throttle({.max_tokens = 3, .token_ratio = 0.7});
  throttle.OnSuccess();
  CHECK(throttle.tokens() == 3);
  throttle.OnFailure();
  throttle.OnSuccess();
  throttle.OnSuccess();
  CHECK(throttle.tokens() == 3);
  for (int i = 0; i < 10; ++i) throttle.OnFailure();
  CHECK(throttle.tokens() == 0);
  throttle.OnSuccess();
  throttle.OnFailure();  // from 0.7, not to -0.3
  CHECK(throttle.tokens() == 0);
}

TEST_CASE("three decimals count and the others are cut off") {
  CHECK(Thousandths(0.5466) == 546);
  CHECK(Thousandths(0.57) == 570);
  CHECK(Thousandths(0.29) == 290);
  CHECK(Thousandths(0.0019) == 1);
  CHECK(Thousandths(0.0009) == 0);
  CHECK(Thousandths(1000) == 1'000'000);
  int wrong = 0;
  for (int i = 0; i <= 1'000'000; ++i) wrong += Thousandths(i / 1000.0) == i ? 0 : 1;
  CHECK(wrong == 0);
  RetryThrottle throttle({.max_tokens = 1, .token_ratio = 0.0019});
  throttle.OnFailure();
  throttle.OnSuccess();
  CHECK(throttle.tokens() == 0.001);
}

TEST_CASE("values out of range count as the nearest that is in it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(Thousandths(nan) == 0);
  CHECK(Thousandths(-1) == 0);
  CHECK(Thousandths(infinite) == 1'000'000);
  for (const double low : {nan, 0.0, -1.0, -infinite}) {
    RetryThrottle throttle({.max_tokens = low, .token_ratio = low});
    CHECK(throttle.tokens() == 0.001);
    CHECK(throttle.Allows());
    throttle.OnFailure();
    CHECK_FALSE(throttle.Allows());
    throttle.OnSuccess();
    CHECK(throttle.Allows());
  }
  RetryThrottle high({.max_tokens = infinite, .token_ratio = infinite});
  CHECK(high.tokens() == 1000);
  for (int i = 0; i < 500; ++i) high.OnFailure();
  CHECK_FALSE(high.Allows());
  high.OnSuccess();
  CHECK(high.tokens() == 1000);
}

TEST_CASE("of many threads no token is lost or made") {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20'000;
  RetryThrottle throttle({.max_tokens = 1000, .token_ratio = 1});
  for (int i = 0; i < 500; ++i) throttle.OnFailure();
  // As many failures as successes, and no thread is ever ahead by more than one: the bounds are far
  // away, so the end is the beginning.
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&throttle, t] {
      for (int i = 0; i < kRounds; ++i) {
        if ((i + t) % 2 == 0) {
          throttle.OnFailure();
        } else {
          throttle.OnSuccess();
        }
        static_cast<void>(throttle.Allows());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(throttle.tokens() == 500);
}

TEST_CASE("of many threads none takes the tokens out of their bounds") {
  constexpr int kThreads = 4;
  RetryThrottle throttle({.max_tokens = 2, .token_ratio = 1.5});
  std::vector<std::thread> threads;
  std::vector<int> outside(kThreads, 0);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&throttle, &mine = outside[static_cast<size_t>(t)], t] {
      for (int i = 0; i < 20'000; ++i) {
        if ((i + t) % 2 == 0) {
          throttle.OnFailure();
        } else {
          throttle.OnSuccess();
        }
        const double tokens = throttle.tokens();
        if (tokens < 0 || tokens > 2) ++mine;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(outside == std::vector<int>(kThreads, 0));
}

}  // namespace
}  // namespace weft::policy
