// A call whose problem is decided: what stands behind hstu_plan. Checks, key, lookup and parameters are done when it is
// made; a launch does again only what other arguments ask for.
#pragma once

#include "context.hpp"
#include "launch/address_places.hpp"
#include "problem/movable_args.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace hstujit {

class FixedCall {
 public:
  /// Makes the problem's plan if need be, as the context's miss policy says. args: as the caller wrote them.
  FixedCall(Context& context, const Operator& op, const void* args, CUstream stream);

  /// context: the construction's. args: null for those of the construction. Any number of threads at once.
  void launch(Context& context, const void* args, CUstream stream) const;

 private:
  /// A plan of the table, with the parameters of the construction's arguments.
  struct Bound {
    const Plan* plan;
    Launch launch;
    std::optional<AddressPlaces> places;
  };

  const Bound& bound(Context& context) const;
  const Bound& look_again(Context& context) const;
  void launch_anew(Context& context, const void* args, CUstream stream) const;

  const MovableArgs args_;
  mutable std::atomic<const Bound*> bound_{nullptr};  ///< null: no kernel runs (device "cpu", nothing to write)
  mutable std::atomic<uint64_t> generation_{0};       ///< Context::plan_generation() when it was looked up
  mutable std::mutex looking_;
  mutable std::vector<std::unique_ptr<const Bound>> bounds_;  ///< launches may be in the middle of an earlier one
};

}  // namespace hstujit
