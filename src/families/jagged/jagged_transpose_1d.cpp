// jagged_transpose_1d_sm90 and jagged_transpose_1d_sm80: transposition of a matrix of segments,
// kernels/jagged/jagged_transpose_1d_sm90.cuh where vectors are long, else kernels/jagged/jagged_transpose_1d_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/runs_by_lengths.hpp"
#include "families/jagged/runs_ring.hpp"

namespace hstujit {
namespace {

template <auto kBind>
void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_transpose_1d_args*>(args);
  hstu_tensor lengths = a.lengths;
  lengths.shape[0] = a.rows * a.columns;  // also where they are absent
  auto& p = kBind(lengths, a.values, nullptr, a.out, a.out.shape[0], problem, config, device, launch);
  if (launch.grid[0] == 0) launch.grid[0] = 1;  // offsets and lengths are written even so
  p.offsets = a.offsets.data;
  p.out_offsets = a.out_offsets.data;
  p.out_lengths = a.out_lengths.data;
  p.columns = a.columns;
  p.segment_rows = a.rows;
}

}  // namespace

const Family kJaggedTranspose1dSm90 =
    runs_ring::family("jagged_transpose_1d_sm90", Op::jagged_transpose_1d,
                      "jagged_transpose_1d_sm90_smem_bytes<Config>", bind<runs_ring::bind>);

const Family kJaggedTranspose1dSm80 =
    runs_by_lengths::family("jagged_transpose_1d_sm80", Op::jagged_transpose_1d,
                            "jagged_transpose_1d_sm80_smem_bytes<Config>", bind<runs_by_lengths::bind>);

}  // namespace hstujit
