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

  /// Whether this is that call, on that context, with no plan exchanged since. Handles are never freed, so an address
  /// names one context for ever.
  bool is(const hstu_context& context, Op op, int64_t exchanges, const void* args, size_t size) const {
    return context_ == &context && op_ == op && exchanges_ == exchanges && std::memcmp(given_.data(), args, size) == 0;
  }
  /// Holds nothing from here on, until keep(). The launch is as new, to be bound.
  Launch& renew() {
    context_ = nullptr;
    return *new (&launch_) Launch;
  }
  void keep(const hstu_context& context, Op op, int64_t exchanges, const Plan& plan, const void* args, size_t size) {
    context_ = &context;
    op_ = op;
    exchanges_ = exchanges;
    plan_ = &plan;
    std::memcpy(given_.data(), args, size);
  }

  const Plan& plan() const { return *plan_; }
  const Launch& launch() const { return launch_; }

 private:
  const hstu_context* context_ = nullptr;  ///< null: nothing is held
  const Plan* plan_ = nullptr;
  int64_t exchanges_ = 0;  ///< Planner::exchanges() when the plan was looked up
  Op op_{};
  ArgsBytes given_;  ///< as the caller wrote them
  Launch launch_;
};

}  // namespace hstujit
