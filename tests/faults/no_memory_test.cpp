// Any allocation of a context's whole life fails, once or for good: each call says HSTU_ERROR_OUT_OF_MEMORY or does its
// work, the process lives on, and once there is memory again everything works. Each try is a process of its own.
#include "faults/no_memory.hpp"

#include "faults/lives.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>

namespace hstujit::test {
namespace {

// How many callers tell one place that allocates from another, how many of the first allocations and of all are tried,
// and how many of those places. With
// HSTUJIT_EVERY_ALLOCATION set, every allocation of every life fails in turn, which takes an hour; HSTUJIT_ALLOCATION
// names one, for whoever looks into it.
constexpr int kDepth = 6, kDense = 20, kSpread = 20, kMost = 90;

bool exhaustive() { return std::getenv("HSTUJIT_EVERY_ALLOCATION") != nullptr; }

/// The numbers of the allocations that shall fail: the first from each place, the first of all, and some of the rest.
std::set<int64_t> chosen(const std::vector<uint64_t>& places) {
  if (const char* one = std::getenv("HSTUJIT_ALLOCATION")) return {std::atoll(one)};
  std::set<int64_t> out;
  std::set<uint64_t> known;
  const auto count = static_cast<int64_t>(places.size());
  for (int64_t i = 0; i < count; ++i)
    if (known.insert(places[static_cast<size_t>(i)]).second || i < kDense || exhaustive()) out.insert(i);
  if (exhaustive()) return out;
  std::set<int64_t> some;
  size_t at = 0;
  for (const int64_t i : out) {  // evenly among the places, so that every part of a life has some
    const size_t before = at * kMost / out.size(), after = ++at * kMost / out.size();
    if (after != before || i < kDense) some.insert(i);
  }
  for (int64_t i = 0; i < count; i += std::max<int64_t>(1, count / kSpread)) some.insert(i);
  return some;
}

class LifeWithoutMemory : public testing::TestWithParam<Life> {};

INSTANTIATE_TEST_SUITE_P(Of, LifeWithoutMemory, testing::ValuesIn(kLives),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(LifeWithoutMemory, IsRefusedWithAStatusAndGoesOnAfterwards) {
  if (!can_refuse_memory()) GTEST_SKIP() << "a sanitizer has its own functions in malloc's place";
  const LivesRoom room(GetParam());
  const std::vector<uint64_t> places = room.places(kDepth);
  ASSERT_GT(places.size(), 100u) << "a life allocates";
  int refused = 0, wrong = 0, tried = 0;
  for (const int64_t nth : chosen(places))
    for (const bool lasting : {false, true}) {
      const LifeReport report = room.live(nth, lasting);
      ++tried;
      refused += report.refused > 0;
      if (report.wrong.empty() || ++wrong > 20) continue;
      ADD_FAILURE() << "allocation " << nth << (lasting ? " and all later ones fail: " : " fails: ") << report.wrong;
    }
  std::printf("%zu allocations, %d tries, %d of them with a refusal, %d wrong\n", places.size(), tried, refused, wrong);
  EXPECT_GT(refused, tried / 4) << "failing allocations must be met";
}

}  // namespace
}  // namespace hstujit::test
