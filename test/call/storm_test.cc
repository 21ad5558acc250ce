// Calls of every kind while everything fails: each ends once, in time, within its attempts and the
// budget, and leaves nothing behind.
#include <string>

#include "call/storm_world.h"
#include "support/catch.h"

namespace weft::testing {
namespace {

TEST_CASE("whatever fails, every call ends once, in time and within the budget") {
  constexpr uint64_t kSeeds = 60;
  FactoryStats all;
  for (uint64_t n = 0; n < kSeeds; ++n) {
    StormWorld storm(TestSeed() + n);
    WEFT_SEED_INFO(storm.env());
    storm.Run(200);
    const std::string problem = storm.Problem();
    CHECK(problem == "");
    all.hedges += storm.stats().hedges;
    all.hedges_won += storm.stats().hedges_won;
    all.retries += storm.stats().retries;
    all.transparent_retries += storm.stats().transparent_retries;
    all.losers_drained += storm.stats().losers_drained;
    CHECK(storm.Close());
  }
  // What is to be tested has happened.
  INFO(all.hedges << " hedges, " << all.hedges_won << " won, " << all.retries << " retries, "
                  << all.transparent_retries << " by themselves, " << all.losers_drained
                  << " losers drained");
  CHECK(all.hedges > 500);
  CHECK(all.hedges_won > 100);
  CHECK(all.retries > 500);
  CHECK(all.transparent_retries > 200);
  CHECK(all.losers_drained > 50);
}

TEST_CASE("a factory that goes in the middle of a storm ends every call once") {
  for (uint64_t n = 0; n < 40; ++n) {
    StormWorld storm(TestSeed() + 1000 + n);
    WEFT_SEED_INFO(storm.env());
    storm.RunAndBreakOff(200);
    const std::string problem = storm.Problem();
    CHECK(problem == "");
    CHECK(storm.Close());
  }
}

TEST_CASE("the same storm goes the same way twice") {
  for (uint64_t n = 0; n < 5; ++n) {
    uint64_t digests[2];
    for (uint64_t& digest : digests) {
      StormWorld storm(TestSeed() + n);
      WEFT_SEED_INFO(storm.env());
      storm.Run(100);
      digest = storm.env().digest();
      CHECK(storm.Close());
    }
    CHECK(digests[0] == digests[1]);
  }
}

}  // namespace
}  // namespace weft::testing
