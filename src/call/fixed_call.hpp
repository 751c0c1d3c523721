// A call whose problem is decided: what stands behind hstu_plan. Checks, key, lookup and parameters are done when it is
// made; a launch does again only what other arguments ask for.
#pragma once

#include "call/context.hpp"
#include "launch/address_places.hpp"
#include "operators/movable_args.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hstujit {

/// The operators of two problems, or the first field in which they differ, for a message.
std::string difference(const Problem& asked, const Problem& planned);

class FixedCall {
 public:
  /// Makes the problem's plan if need be, as the context's miss policy says. args: as the caller wrote them, in
  /// today's layout, here and below.
  FixedCall(Context& context, const Operator& op, const void* args, CUstream stream);

  /// context: the construction's. args: null for those of the construction. Any number of threads at once.
  [[gnu::always_inline]] void launch(Context& context, const void* args, CUstream stream) const {
    const Bound* const known = bound_.load(std::memory_order_acquire);
    if (!args && known && known->generation.load(std::memory_order_relaxed) == context.plan_generation()) [[likely]]
      return known->run(context, args_, stream);
    launch_checked(context, args, stream);
  }

 private:
  /// A plan of the table, with the parameters of the construction's arguments.
  struct Bound {
    Bound(const Context& context, const Plan& its_plan, const MovableArgs& args, CUstream stream);
    void run(Context& context, const MovableArgs& args, CUstream stream) const {
      const CUresult result = ready(stream);
      if (result != CUDA_SUCCESS) [[unlikely]]
        launch_failed(context, args, stream, result);
    }
    [[gnu::noinline]] void launch_failed(Context& context, const MovableArgs& args, CUstream stream,
                                         CUresult result) const;

    const Launch launch;
    /// Context::plan_generation() when it was last found to be the table's; 0, which none is, while traffic is
    /// recorded.
    std::atomic<uint64_t> generation{0};
    const Plan& plan;
    const ReadyLaunch ready;
    std::optional<AddressPlaces> places;
  };

  [[gnu::noinline]] void launch_checked(Context& context, const void* args, CUstream stream) const;
  const Bound& look_again(Context& context, uint64_t generation, CUstream stream) const;
  void launch_anew(Context& context, const void* args, CUstream stream) const;

  mutable std::atomic<const Bound*> bound_{nullptr};  ///< null: no kernel runs (device "cpu", nothing to write)
  const MovableArgs args_;
  mutable std::mutex looking_;
  mutable std::vector<std::unique_ptr<Bound>> bounds_;  ///< launches may be in the middle of an earlier one
};

}  // namespace hstujit
