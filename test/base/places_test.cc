#include "base/places.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "support/catch.h"

namespace weft::base {
namespace {

// Numbers stand for items.
std::vector<size_t> Places(const std::vector<int>& before, const std::vector<int>& now) {
  static const int items[1000] = {};
  const auto point = [](const std::vector<int>& list) {
    std::vector<const void*> pointers;
    for (const int item : list) pointers.push_back(&items[item]);
    return pointers;
  };
  return PlacesBefore(point(before), point(now));
}

TEST_CASE("places: what stayed, went, came and moved") {
  using P = std::vector<size_t>;
  CHECK(Places({}, {}) == P{});
  CHECK(Places({}, {1}) == P{kNowhere});
  CHECK(Places({1, 2}, {}) == P{});
  CHECK(Places({1, 2, 3}, {1, 2, 3}) == P{0, 1, 2});
  CHECK(Places({1, 2, 3}, {1, 9, 3}) == P{0, kNowhere, 2});
  CHECK(Places({1, 2, 3}, {9, 1, 2, 8, 3}) == P{kNowhere, 0, 1, kNowhere, 2});
  CHECK(Places({1, 2, 3}, {3, 2, 1}) == P{2, 1, 0});
  std::vector<int> many(30);
  for (int i = 0; i < 30; ++i) many[static_cast<size_t>(i)] = i;
  CHECK(Places(many, {0, 25, 26, 1, 29}) == P{0, 25, 26, 1, 29});
}

TEST_CASE("places: any two lists, against a search") {
  base::Random random(7);
  for (int run = 0; run < 300; ++run) {
    const auto draw = [&](std::vector<int> list) {
      for (uint64_t changes = random.Next() % 40; changes > 0; --changes) {
        const auto place = static_cast<std::ptrdiff_t>(random.Next() % (list.size() + 1));
        const int item = static_cast<int>(random.Next() % 1000);
        switch (random.Next() % 4) {
          case 0:
            if (std::find(list.begin(), list.end(), item) == list.end())
              list.insert(list.begin() + place, item);
            break;
          case 1:
            list.erase(
                list.begin() + place,
                list.begin() + std::min<std::ptrdiff_t>(place + item % 20,
                                                        static_cast<std::ptrdiff_t>(list.size())));
            break;
          case 2:
            std::rotate(list.begin(), list.begin() + place, list.end());
            break;
          default:
            std::reverse(list.begin() + place, list.end());
        }
      }
      return list;
    };
    std::vector<int> before;
    for (int i = 0; i < 200; ++i) before.push_back(i);
    before = draw(before);
    const std::vector<int> now = draw(before);
    const std::vector<size_t> places = Places(before, now);
    REQUIRE(places.size() == now.size());
    for (size_t i = 0; i < now.size(); ++i) {
      const auto found = std::find(before.begin(), before.end(), now[i]);
      REQUIRE(places[i] ==
              (found == before.end() ? kNowhere : static_cast<size_t>(found - before.begin())));
    }
  }
}

}  // namespace
}  // namespace weft::base
