// Runs calls, such as those of an N-layer HSTU stack, through the public C API on buffers of a device, with seeded
// random inputs and weights.
#pragma once

#include "workload/calls.hpp"
#include "workload/memory.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hstujit {

class Stack {
 public:
  /// Allocates and fills all buffers. Contents depend on the seed and on buffer names only, not on the device. Beyond
  /// the first million elements a buffer repeats them, with a period that no row length divides.
  Stack(const Calls& calls, Memory& memory, uint64_t seed);

  size_t size() const { return bound_.size(); }
  chain::FusedStages fused() const { return calls_.fused; }
  const Call& call(size_t index) const { return calls_.calls[index]; }
  /// The call's args as the C API takes them.
  const AnyArgs& args(size_t index) const { return bound_[index]; }

  /// Queues the calls to be made once, before all others.
  void set_up(hstu_context* context, hstu_stream stream) const;
  /// Queues one call, or all in order. Throws Error with the library's status and text, the call's name in front.
  void run(size_t index, hstu_context* context, hstu_stream stream) const;
  void run(hstu_context* context, hstu_stream stream) const;

  /// Where a buffer begins. Throws Error{INVALID_ARGUMENT} for unknown names, as read() does.
  void* base(std::string_view buffer) const;
  /// A buffer's floating-point elements; waits for the device first.
  std::vector<double> read(std::string_view buffer) const;
  std::vector<double> result() const;

 private:
  static void run(const Call& call, const AnyArgs& args, hstu_context* context, hstu_stream stream);
  size_t index_of(std::string_view buffer) const;
  void fill(const Buffer& buffer, void* base, uint64_t seed);

  Calls calls_;
  Memory& memory_;
  std::vector<void*> bases_;
  std::vector<AnyArgs> setup_, bound_;
};

/// One call through the C API; args is the operator's struct.
hstu_status call_operator(hstu_context* context, Op op, const void* args, hstu_stream stream);

}  // namespace hstujit
