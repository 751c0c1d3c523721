// What a thread remembers of its last calls, so that less of the next is done anew: calls with the very same arguments,
// as those of a server with buffers of its own, are launched as they were; calls that differ in their buffers alone are
// bound anew, but neither checked nor keyed. Both are kept when they come a second time: what came once may never come
// again, and is not worth the place of what does.
#pragma once

#include "launch/plan.hpp"
#include "problem/movable_args.hpp"

#include <hstujit/hstujit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace hstujit {

/// A place's last newcomer.
class Newcomer {
 public:
  /// Whether the one before had this mark, too.
  bool came_before(uint64_t mark) { return std::exchange(mark_, mark) == mark; }

 protected:
  static constexpr uint64_t kNobodys = 0;  ///< generation of a place that holds nothing

 private:
  uint64_t mark_ = 0;
};

/// A call with these arguments, by its bytes.
class RecentCall : public Newcomer {
 public:
  /// Tells most calls from each other, by the operator and the first tensors' addresses.
  static uint64_t mark_of(Op op, const void* args, size_t size);
  /// The thread's place for a call with this mark: its own from the last time, or another call's.
  static RecentCall& place(uint64_t mark);

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
  uint64_t generation_ = kNobodys;
  const Plan* plan_ = nullptr;
  Op op_{};
  ArgsBytes given_;  ///< as the caller wrote them
  Launch launch_;
};

/// Calls that differ from one in nothing but addresses.
class RecentProblem : public Newcomer {
 public:
  /// Tells most problems from each other, by the operator and the first tensors' extents.
  static uint64_t mark_of(Op op, const void* args, size_t size);
  static RecentProblem& place(uint64_t mark);

  /// Writes what prepare() makes of such a call's arguments. generation: as with RecentCall.
  bool move(uint64_t generation, Op op, const void* args, ArgsBytes& out) const {
    return generation_ == generation && op_ == op && known_->move(args, out);
  }
  void keep(uint64_t generation, Op op, const Plan& plan, const void* args) {
    generation_ = kNobodys;  // until all of it is there
    known_.emplace(operator_of(op), args);
    generation_ = generation;
    op_ = op;
    plan_ = &plan;
  }
  const Plan& plan() const { return *plan_; }

 private:
  uint64_t generation_ = kNobodys;
  Op op_{};
  const Plan* plan_ = nullptr;
  std::optional<MovableArgs> known_;  ///< if the generation is somebody's
};

}  // namespace hstujit
