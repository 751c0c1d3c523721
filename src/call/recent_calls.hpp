// What a thread remembers of its last calls, so that less of the next is done anew: calls with the very same arguments,
// as those of a server with buffers of its own, are launched as they were; of calls that differ in their buffers alone
// only the addresses are written anew. Both are kept when they come a second time: what came once may never come again,
// and is not worth the place of what does.
#pragma once

#include "call/context.hpp"
#include "launch/address_places.hpp"
#include "launch/module.hpp"
#include "launch/plan.hpp"
#include "operators/movable_args.hpp"

#include <hstujit/hstujit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

namespace hstujit {

/// Where an args struct has its first tensor: behind struct_size, or in the struct of the forward call that comes first
/// in a gradient's.
template <class Args>
constexpr size_t first_tensor() {
  if constexpr (requires(Args a) { a.forward; })
    return offsetof(Args, forward) + first_tensor<decltype(Args::forward)>();
  else
    return sizeof(size_t);
}
#define HSTUJIT_FIRST(op, args_type, function) first_tensor<args_type>(),
inline constexpr size_t kFirstTensor[] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_FIRST)};  ///< of each operator
#undef HSTUJIT_FIRST

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
  /// Tells most calls from each other, by the operator and the first tensors' addresses: a sum, whose products do not
  /// wait for each other.
  static uint64_t mark_of(Op op, const void* args, size_t size) {
    constexpr uint64_t kOdd[] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0xd6e8feb86659fd93u, 0xa0761d6478bd642fu};
    uint64_t mark = static_cast<uint64_t>(op) << 48;
    for (size_t tensor = 0, at = kFirstTensor[static_cast<size_t>(op)];
         tensor < std::size(kOdd) && at + sizeof(hstu_tensor) <= size; ++tensor, at += sizeof(hstu_tensor)) {
      uint64_t address;
      std::memcpy(&address, static_cast<const std::byte*>(args) + at + offsetof(hstu_tensor, data), sizeof address);
      mark += (address >> 4) * kOdd[tensor];
    }
    return mark;
  }
  /// The thread's place for a call with this mark: its own from the last time, or another call's.
  static RecentCall& place(uint64_t mark);
  /// The same, or null while the thread remembers nothing, which it does from its first call on a GPU on.
  static RecentCall* known_place(uint64_t mark);

  /// Whether this is that call. generation: Context::plan_generation(), which no other context shares.
  bool is(uint64_t generation, Op op, const void* args, size_t size) const {
    return generation_ == generation && op_ == op && std::memcmp(given_.data(), args, size) == 0;
  }
  /// generation: read before the plan was looked up, so that an exchange since is noticed.
  void keep(uint64_t generation, Op op, const Plan& plan, const void* args, size_t size, const Launch& launch,
            CUstream stream) {
    generation_ = generation;
    op_ = op;
    plan_ = &plan;
    std::memcpy(given_.data(), args, size);
    launch_ = launch;
    ready_.emplace(plan.kernel.get(), launch_, stream);
  }
  /// If it is that call.
  void run(const Context& context, CUstream stream) const {
    const CUresult result = (*ready_)(stream);
    if (result != CUDA_SUCCESS) [[unlikely]]
      context.launch_failed(*plan_, launch_, stream, result);
  }

 private:
  uint64_t generation_ = kNobodys;
  Op op_{};
  std::optional<ReadyLaunch> ready_;
  const Plan* plan_ = nullptr;
  ArgsBytes given_;  ///< as the caller wrote them
  Launch launch_;
};

/// Calls that differ from one in nothing but addresses.
class RecentProblem : public Newcomer {
 public:
  /// Tells most problems from each other, by the operator and the first tensors' extents.
  static uint64_t mark_of(Op op, const void* args, size_t size);
  static RecentProblem& place(uint64_t mark);

  /// The launch of such a call, until the next; null for other calls. generation: as with RecentCall.
  const Launch* launch_of(uint64_t generation, Op op, const void* args) {
    if (generation_ != generation || op_ != op || !known_->moves(args)) return nullptr;
    places_->write(args, launch_);
    return &launch_;
  }
  /// Whether a call with this mark should be kept: it came twice, and its launch is not known to have no places.
  bool wants(uint64_t generation, uint64_t mark) { return came_before(mark) && (mark ^ generation) != unplaced_; }
  /// launch: of these arguments. bind: of the plan's kernel.
  void keep(uint64_t generation, uint64_t mark, Op op, const Plan& plan, const void* args, const Launch& launch,
            const AddressPlaces::Bind& bind) {
    generation_ = kNobodys;  // until all of it is there
    known_.emplace(operator_of(op), args);
    places_ = AddressPlaces::find(*known_, bind);
    if (!places_) {
      unplaced_ = mark ^ generation;
      return;
    }
    launch_ = launch;
    op_ = op;
    plan_ = &plan;
    generation_ = generation;
  }
  const Plan& plan() const { return *plan_; }

 private:
  uint64_t generation_ = kNobodys;
  Op op_{};
  const Plan* plan_ = nullptr;
  std::optional<MovableArgs> known_;  ///< if the generation is somebody's, as is the next
  std::optional<AddressPlaces> places_;
  Launch launch_;
  uint64_t unplaced_ = 0;
};

/// What a thread remembers: of a layer's stages and a stack's layers all, in a few hundred kilobytes.
struct RecentCalls {
  static constexpr size_t kCallBits = 6, kProblemBits = 5;  ///< of a mark
  RecentCall calls[size_t{1} << kCallBits];
  RecentProblem problems[size_t{1} << kProblemBits];

  static_assert(sizeof(RecentCall) << kCallBits <= 256 * 1024 && sizeof(RecentProblem) << kProblemBits <= 256 * 1024,
                "a thread remembers more than half a megabyte");
  static RecentCalls& of_thread() { return own_ ? *own_ : make(); }
  static RecentCalls* known() { return own_; }

 private:
  static RecentCalls& make();
  static constinit thread_local RecentCalls* own_;
};

inline RecentCall& RecentCall::place(uint64_t mark) {
  return RecentCalls::of_thread().calls[mark >> (64 - RecentCalls::kCallBits)];
}
inline RecentCall* RecentCall::known_place(uint64_t mark) {
  RecentCalls* const known = RecentCalls::known();
  return known ? &known->calls[mark >> (64 - RecentCalls::kCallBits)] : nullptr;
}
inline RecentProblem& RecentProblem::place(uint64_t mark) {
  return RecentCalls::of_thread().problems[mark >> (64 - RecentCalls::kProblemBits)];
}

}  // namespace hstujit
