#include "pool/reset_budget.h"

#include <limits>
#include <vector>

#include "support/catch.h"

namespace weft::pool {
namespace {

using namespace std::chrono_literals;

const base::MonoTime kStart{std::chrono::hours(100)};

// Resets in a row that are allowed at `now`; they are spent.
int Take(ResetBudget& budget, base::MonoTime now, int most = 100000) {
  int taken = 0;
  for (; taken < most && budget.Allows(now); ++taken) budget.Spend(now);
  return taken;
}

TEST_CASE("a reset budget: the burst, then the rate") {
  struct Row {
    int burst;
    double rate;
    base::MonoDuration pause;
    int after;  // allowed after the burst and that pause
  };
  const std::vector<Row> rows = {
      {100, 20, 0s, 0},      {100, 20, 49ms, 0},
      {100, 20, 50ms, 1},    {100, 20, 99ms, 1},
      {100, 20, 1s, 20},     {100, 20, 5s, 100},
      {100, 20, 1h, 100},  // never more than the burst
      {1, 20, 1s, 1},        {1, 0.5, 1999ms, 0},
      {1, 0.5, 2s, 1},       {1000, 33, 1s, 33},
      {5, 0, 1000h, 0},  // in all of a connection's life
      {5, 1e-300, 1000h, 0}, {std::numeric_limits<int>::max(), 0, 0s, 100000},
  };
  for (const Row& row : rows) {
    INFO("burst " << row.burst << ", rate " << row.rate << ", pause " << row.pause.count());
    ResetBudget budget(row.burst, row.rate);
    const int burst = std::min(row.burst, 100000);
    CHECK(Take(budget, kStart) == burst);
    if (burst == row.burst) CHECK(Take(budget, kStart + row.pause) == row.after);
  }
}

TEST_CASE("a reset budget that is nought, and one that is as good as endless") {
  for (const double rate : {0.0, 20.0, 1e12, std::numeric_limits<double>::infinity()}) {
    ResetBudget none(0, rate);
    CHECK_FALSE(none.Allows(kStart));
    none.Spend(kStart);
    CHECK_FALSE(none.Allows(kStart + 1000h));
  }
  ResetBudget endless(1'000'000, 1e12);
  CHECK(Take(endless, kStart) == 100000);
  CHECK(Take(endless, kStart + 1ms) == 100000);
}

TEST_CASE("what is spent unasked counts, and makes no debt") {
  ResetBudget budget(10, 10);
  for (int i = 0; i < 9; ++i) budget.Spend(kStart);
  CHECK(budget.Allows(kStart));
  for (int i = 0; i < 1000; ++i) budget.Spend(kStart);
  CHECK_FALSE(budget.Allows(kStart));
  CHECK_FALSE(budget.Allows(kStart + 99ms));
  CHECK(Take(budget, kStart + 100ms) == 1);
  CHECK(Take(budget, kStart + 1100ms) == 10);
}

TEST_CASE("a steady rate below the budget's is never refused, one above it in proportion") {
  ResetBudget below(100, 20);
  ResetBudget above(100, 20);
  int refused = 0;
  constexpr int kSeconds = 600;
  for (int i = 0; i < kSeconds * 100; ++i) {
    const base::MonoTime now = kStart + i * 10ms;
    if (i % 5 == 0) {
      REQUIRE(below.Allows(now));
      below.Spend(now);
    }
    if (above.Allows(now)) {
      above.Spend(now);
    } else {
      ++refused;
    }
  }
  CHECK(std::abs(refused - (kSeconds * 80 - 100)) <= 1);
}

}  // namespace
}  // namespace weft::pool
