// Calls that come again with the very same arguments, as those of a server with buffers of its own do: what a thread's
// last calls were bound to, found by their bytes. Nothing of such a call is checked, keyed or bound twice.
#pragma once

#include "launch/plan.hpp"
#include "problem/movable_args.hpp"

#include <hstujit/hstujit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hstujit {

class RecentCall {
 public:
  /// The thread's place for a call of `size` bytes of arguments: its own from the last time, or another call's.
  static RecentCall& place(Op op, const void* args, size_t size);

  /// Whether this is that call. generation: Context::plan_generation(), which no other context shares.
  bool is(uint64_t generation, Op op, const void* args, size_t size) const {
    return generation_ == generation && op_ == op && std::memcmp(given_.data(), args, size) == 0;
  }
  /// Holds nothing from here on, until keep(). The launch is as new, to be bound.
  Launch& renew() {
    generation_ = kNobodys;
    return *new (&launch_) Launch;
  }
  /// generation: read before the plan was looked up, so that an exchange since is noticed.
  void keep(uint64_t generation, Op op, const Plan& plan, const void* args, size_t size) {
    generation_ = generation;
    op_ = op;
    plan_ = &plan;
    std::memcpy(given_.data(), args, size);
  }

  const Plan& plan() const { return *plan_; }
  const Launch& launch() const { return launch_; }

 private:
  static constexpr uint64_t kNobodys = 0;  ///< nothing is held

  uint64_t generation_ = kNobodys;
  const Plan* plan_ = nullptr;
  Op op_{};
  ArgsBytes given_;  ///< as the caller wrote them
  Launch launch_;
};

}  // namespace hstujit
