// Numbers of targets below zero on the device: no host may give them, and a GPU does not look, but they must lead
// nowhere. They count as none.
#pragma once

#include "support/device_call.hpp"

#include <limits>
#include <vector>

namespace hstujit::test {

template <class Args>
hstu_tensor& targets_of(Args& args) {
  if constexpr (requires { args.mask; })
    return args.mask.num_targets;
  else
    return args.num_targets;
}

/// Makes the call with num_targets below zero in every sequence and compares it with the oracle of the call that has
/// none. The outputs are written where they are without targets.
template <class Args>
void expect_no_targets(HostMemory& memory, Args args, const std::vector<Expected<Args>>& outputs) {
  if (test_device()->cpu) GTEST_SKIP() << "refused there";
  const auto batch = static_cast<size_t>(targets_of(args).shape[0]);
  Args none = args;
  targets_of(none) = memory.integers(HSTU_DTYPE_I64, std::vector<int64_t>(batch, 0));
  const std::vector<Exact> exact = test_device()->compile_only ? std::vector<Exact>{} : exact_results(none, outputs);
  for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64}) {
    const int64_t least =
        dtype == HSTU_DTYPE_I32 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
    std::vector<int64_t> targets;
    for (size_t b = 0; b < batch; ++b) targets.push_back(b % 3 == 0 ? least : b % 3 == 1 ? -1 : least + 5);
    targets_of(args) = memory.integers(dtype, targets);
    DeviceCall call(memory, op_of<Args>(), &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    if (!test_device()->compile_only) expect_correct(call, args, outputs, exact);
  }
}

/// As many targets as their type counts, or a few: of all sequences in turn.
inline hstu_tensor as_many_as_there_are(HostMemory& memory, hstu_dtype dtype, int64_t batch) {
  const int64_t most =
      dtype == HSTU_DTYPE_I32 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  std::vector<int64_t> targets;
  for (int64_t b = 0; b < batch; ++b) targets.push_back(b % 4 == 3 ? 2 : most - b % 4 * (most / 2));
  return memory.integers(dtype, targets);
}

}  // namespace hstujit::test
