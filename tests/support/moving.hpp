// Calls and their launches that move to other buffers: whatever the shortcut, they must come out as if made anew.
#pragma once

#include "cuda/device.hpp"
#include "operators/movable_args.hpp"
#include "support/random.hpp"
#include "workload/calls.hpp"

#include <utility>
#include <vector>

namespace hstujit::test {

/// Calls of the reference workload, which has nearly every operator, at made-up addresses.
std::vector<std::pair<const Operator*, AnyArgs>> workload_calls();

/// The arguments at other addresses: some far away, some near their place so that tensors may meet, at times less
/// aligned.
ArgsBytes moved_somewhere(const Operator& op, const void* args, Random& random);

/// Every family's launch of every call of the reference workload, moved by AddressPlaces, is what bind makes at the
/// same addresses. With families for sm_90, a context must be current: their tensor maps are the driver's.
void expect_launches_to_move(const DeviceFacts& facts);

}  // namespace hstujit::test
