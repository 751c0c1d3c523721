// split_1d_jagged_sm90 and split_1d_jagged_sm80: splitting of jagged vectors,
// kernels/jagged/split_1d_jagged_sm90.cuh where vectors are long, else kernels/jagged/split_1d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/runs_by_lengths.hpp"
#include "families/jagged/runs_ring.hpp"

namespace hstujit {
namespace {

template <auto kBind>
void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_split_1d_jagged_args*>(args);
  auto& p = kBind(a.lengths_left, a.left, &a.right, a.values, a.left.shape[0], problem, config, device, launch);
  p.right_lengths = a.lengths_right.data;
}

}  // namespace

const Family kSplit1dJaggedSm90 = runs_ring::family("split_1d_jagged_sm90", Op::split_1d_jagged,
                                                    "split_1d_jagged_sm90_smem_bytes<Config>", bind<runs_ring::bind>);

const Family kSplit1dJaggedSm80 =
    runs_by_lengths::family("split_1d_jagged_sm80", Op::split_1d_jagged, "split_1d_jagged_sm80_smem_bytes<Config>",
                            bind<runs_by_lengths::bind>);

}  // namespace hstujit
