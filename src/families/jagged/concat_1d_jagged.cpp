// concat_1d_jagged_sm90 and concat_1d_jagged_sm80: concatenation of jagged vectors,
// kernels/jagged/concat_1d_jagged_sm90.cuh where vectors are long, else kernels/jagged/concat_1d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/runs_by_lengths.hpp"
#include "families/jagged/runs_ring.hpp"

namespace hstujit {
namespace {

template <auto kBind>
void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_concat_1d_jagged_args*>(args);
  auto& p = kBind(a.lengths_left, a.left, &a.right, a.out, a.out.shape[0], problem, config, device, launch);
  p.right_lengths = a.lengths_right.data;
}

}  // namespace

const Family kConcat1dJaggedSm90 = runs_ring::family("concat_1d_jagged_sm90", Op::concat_1d_jagged,
                                                     "concat_1d_jagged_sm90_smem_bytes<Config>", bind<runs_ring::bind>);

const Family kConcat1dJaggedSm80 =
    runs_by_lengths::family("concat_1d_jagged_sm80", Op::concat_1d_jagged, "concat_1d_jagged_sm80_smem_bytes<Config>",
                            bind<runs_by_lengths::bind>);

}  // namespace hstujit
