// jagged_remove_1d_sm90 and jagged_remove_1d_sm80: sequences without their first or last element,
// kernels/jagged/jagged_remove_1d_sm90.cuh where vectors are long, else kernels/jagged/jagged_remove_1d_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/runs_by_lengths.hpp"
#include "families/jagged/runs_ring.hpp"

namespace hstujit {
namespace {

template <auto kBind>
void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_remove_first_or_last_1d_args*>(args);
  kBind(a.lengths, a.without_first, &a.without_last, a.values, a.without_first.shape[0], problem, config, device,
        launch);
}

}  // namespace

const Family kJaggedRemove1dSm90 = runs_ring::family("jagged_remove_1d_sm90", Op::jagged_remove_first_or_last_1d,
                                                     "jagged_remove_1d_sm90_smem_bytes<Config>", bind<runs_ring::bind>);

const Family kJaggedRemove1dSm80 =
    runs_by_lengths::family("jagged_remove_1d_sm80", Op::jagged_remove_first_or_last_1d,
                            "jagged_remove_1d_sm80_smem_bytes<Config>", bind<runs_by_lengths::bind>);

}  // namespace hstujit
