#include "families/jagged/jagged_copy.hpp"

#include "families/jagged/sequence_density.hpp"

#include <algorithm>

namespace hstujit::jagged_copy {
namespace {

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4};

int row_accesses(const Problem& p) { return std::max(p[kRowBytes] / p[kAccessBytes], 1); }
int block_pieces(const Config& c) { return c[kThreads] * c[kAccesses]; }

hstu::JaggedPart part_of(const hstu_tensor& values, const hstu_tensor& offsets, const JaggedPartFacts& facts,
                         int64_t batch) {
  const int64_t bytes = checks::element_bytes(values.dtype);
  return {values.data,
          offsets.data,
          facts.rows,
          facts.row_stride * bytes,
          facts.batch_stride * bytes,
          facts.length,
          sequence_density(batch, facts.rows)};
}

std::string_view offset_type(int32_t dtype) {
  return dtype == HSTU_DTYPE_NONE ? "tile::Dense" : device_type(static_cast<hstu_dtype>(dtype));
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones are fewer"},
    {"accesses", kAccessesValues, "bytes in flight a thread, for registers, and rows that share a warp's search"},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  // Measured on an H200, 458704 rows of 1 KB in 512 sequences, copy 4133 GB/s: with two accesses of 64 threads a
  // concatenation runs at 4177, a split at 4166, with one of 128 at 4171 and 4145; rows of 64 bytes with two, which are
  // then of different rows, at 4141, with one at 4167. A replacement reads after its search and wants more on the way:
  // 4109 with two, 3776 with one. Small calls want all blocks at once.
  constexpr int kPiecesOfTwo = 64, kThreadsOfAnSm = 2048;
  const bool large = int64_t{p[kRows]} * row_accesses(p) >= int64_t{16} * kThreadsOfAnSm * device.sm_count;
  const bool two = row_accesses(p) % kPiecesOfTwo == 0 || p[kReplace] != 0;
  return large && two ? Config{{64, 2}} : Config{{128, 1}};
}

Resources resources(const Problem&, const Config& c) {
  // Addresses and the sequence; pieces.
  return {.threads = c[kThreads], .smem_bytes = 0, .registers = 16 + 4 * c[kAccesses]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("LeftOffset", offset_type(p[kLeftOffset]));
  text.type("RightOffset", offset_type(p[kRightOffset]));
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kRowAccesses", row_accesses(p));
  text.flag("kPrefix", p[kPrefix] != 0);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
}

int64_t blocks(const Problem& p, const Config& c, int64_t rows) {
  return p[kRowBytes] == 0 ? 0 : (rows * row_accesses(p) + block_pieces(c) - 1) / block_pieces(c);
}

void bind_shape(const Config& c, int64_t blocks, Launch& launch) {
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
}

void bind_tensors(const hstu_tensor& left, const hstu_tensor& right, const hstu_tensor& offsets_left,
                  const hstu_tensor& offsets_right, const hstu_tensor& combined, const Parts& parts,
                  hstu::JaggedCopyParams& params) {
  params.left = part_of(left, offsets_left, parts.left, parts.batch);
  params.right = part_of(right, offsets_right, parts.right, parts.batch);
  params.combined = combined.data;
  params.combined_rows = combined.shape[0];
  params.combined_row_stride = combined.stride[0] * checks::element_bytes(combined.dtype);
  params.combined_density = sequence_density(parts.batch, params.combined_rows);
  params.batch = static_cast<int>(parts.batch);
}

}  // namespace hstujit::jagged_copy
