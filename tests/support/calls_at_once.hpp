// Calls that run at once, on several streams or in branches of a graph that is replayed: each leaves the bits that it
// leaves alone.
#pragma once

#include "support/streams.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <list>
#include <utility>

namespace hstujit::test {

/// Call: made of a seed, with tensors of its own on the GPU; queue(stream), result(), and poison() for what it writes.
template <class Call>
class CallsAtOnce : public testing::Test {
 protected:
  /// Makes calls, and runs each alone.
  void make(uint32_t count) {
    for (uint32_t seed = 0; seed < count; ++seed) {
      Call& call = calls_.emplace_back(seed);
      call.poison();
      const auto nothing = call.result();
      call.queue(nullptr);
      gpu()->driver->check(gpu()->driver->cuStreamSynchronize(nullptr), "waiting for a call alone");
      alone_.push_back(call.result());
      ASSERT_FALSE(alone_.back() == nothing) << "call " << seed << " wrote nothing, which any call could";
      call.poison();
    }
  }
  void expect_same_on_streams(size_t count, int rounds) {
    const Streams streams(count);
    for (int round = 0; round < rounds; ++round) {
      queue_on(streams);
      streams.wait();
      expect_as_alone();
    }
  }
  void expect_same_in_a_graph(size_t branches, int replays) {
    const Streams streams(branches);
    const BranchedGraph graph(streams, [&] { queue_on(streams); });
    for (int replay = 0; replay < replays; ++replay) {
      graph.launch(streams[0]);
      streams.wait();
      expect_as_alone();
    }
  }

  std::list<Call> calls_;
  std::list<decltype(std::declval<const Call&>().result())> alone_;  ///< their results

 private:
  void queue_on(const Streams& streams) const {
    size_t i = 0;
    for (const Call& call : calls_) call.queue(streams[i++ % streams.size()]);
  }
  void expect_as_alone() {
    auto alone = alone_.begin();
    for (Call& call : calls_) {
      EXPECT_TRUE(call.result() == *alone) << "call " << std::distance(alone_.begin(), alone);
      ++alone;
      call.poison();
    }
  }
};

}  // namespace hstujit::test
