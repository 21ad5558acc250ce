#include "cluster/last_report.h"

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;

LastReport::Stamped Numbered(uint32_t n) {
  const auto real = static_cast<float>(n);
  return {.report = {.in_flight = n,
                     .workers = n,
                     .service_time = base::MonoDuration(n),
                     .latency = base::MonoDuration(n),
                     .utilization = real,
                     .qps = real,
                     .eps = real},
          .at = base::MonoTime(base::MonoDuration(n)),
          .entered = n};
}

TEST_CASE("the last report is the one that was set last") {
  LastReport last;
  CHECK(last.Get() == LastReport::Stamped());
  CHECK(last.Get().at == base::MonoTime::min());
  for (uint32_t n = 1; n < 4; ++n) {
    last.Set(Numbered(n));
    CHECK(last.Get() == Numbered(n));
  }
}

TEST_CASE("a report is never made of two") {
  LastReport last;
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (uint32_t w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      for (uint32_t n = 1; !done.load(); ++n) last.Set(Numbered((n * 2 + w) % 100'000));
    });
  }
  uint32_t seen = 0;
  bool whole = true;
  for (int i = 0; i < 100'000 || seen == 0; ++i) {
    const LastReport::Stamped got = last.Get();
    if (got.at == base::MonoTime::min()) continue;
    whole = whole && got == Numbered(got.entered);
    ++seen;
  }
  done = true;
  for (std::thread& writer : writers) writer.join();
  CHECK(whole);
  CHECK(seen > 0);
}

}  // namespace
}  // namespace weft::cluster
