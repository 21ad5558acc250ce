// For tests that run a real loop: waiting for what happens on its thread.
#ifndef WEFT_TEST_EVENT_ON_LOOP_H_
#define WEFT_TEST_EVENT_ON_LOOP_H_

#include <chrono>
#include <future>
#include <type_traits>
#include <utility>

#include "event/loop.h"
#include "support/catch.h"

namespace weft::testing {

// The future's value; the test fails where there is none in 30 s.
template <class T>
T Get(std::future<T> future) {
  if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready)
    FAIL("nothing happened for 30 s");
  return future.get();
}

// Runs `function` as a task and gives its result.
template <class F>
auto On(event::Loop& loop, F function) {
  using T = std::invoke_result_t<F>;
  std::promise<T> promise;
  std::future<T> future = promise.get_future();
  loop.PostFunction([promise = std::move(promise), function = std::move(function)]() mutable {
    if constexpr (std::is_void_v<T>) {
      function();
      promise.set_value();
    } else {
      promise.set_value(function());
    }
  });
  return Get(std::move(future));
}

}  // namespace weft::testing

#endif  // WEFT_TEST_EVENT_ON_LOOP_H_
