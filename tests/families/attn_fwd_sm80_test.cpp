// The space of attn_fwd_sm80: small enough to search in full for every shape and device, the default in it; and what a
// launch says about grid and parameters.
#include "attention/attn_fwd.h"
#include "families/families.hpp"
#include "operators/operators.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace hstujit {
namespace {

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16, kF16 = HSTU_DTYPE_F16, kI32 = HSTU_DTYPE_I32, kI64 = HSTU_DTYPE_I64;

/// The start of a buffer that is never read; buffers lie 256 tebibytes apart.
void* buffer(int index) { return reinterpret_cast<void*>(static_cast<uintptr_t>(index) << 48); }

hstu_tensor heads(int index, hstu_dtype dtype, int64_t rows, int64_t num_heads, int64_t dim) {
  hstu_tensor t{};
  t.data = buffer(index);
  t.dtype = dtype;
  t.rank = 3;
  t.shape[0] = rows, t.shape[1] = num_heads, t.shape[2] = dim;
  return t;
}

hstu_attention_args attention_args(hstu_dtype dtype, int64_t batch, int64_t rows, int64_t num_heads, int64_t dim_qk,
                                   int64_t dim_v, int64_t max_seq_len) {
  hstu_attention_args args{};
  args.struct_size = sizeof args;
  args.q = heads(1, dtype, rows, num_heads, dim_qk);
  args.k = heads(2, dtype, rows, num_heads, dim_qk);
  args.v = heads(3, dtype, rows, num_heads, dim_v);
  args.out = heads(4, dtype, rows, num_heads, dim_v);
  args.seq_offsets = hstu_vector(buffer(5), kI64, batch + 1);
  args.max_seq_len = max_seq_len;
  return args;
}

std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const int64_t qk : {1, 16, 25, 32, 64, 96, 128, 200, 256})
    for (const int64_t v : {1, 16, 32, 64, 80, 128, 256})
      for (const hstu_dtype dtype : {kBf16, kF16}) {
        hstu_attention_args plain = attention_args(dtype, 32, 65536, 4, qk, v, 4096);
        out.push_back(prepare(plain));
        hstu_attention_args masked = attention_args(dtype, 128, 4096, 2, qk, v, 64);
        masked.mask.num_targets = hstu_vector(buffer(6), kI32, 128);
        masked.mask.contextual_seq_len = 8, masked.mask.max_attn_len = 32, masked.mask.min_full_attn_seq_len = 4;
        out.push_back(prepare(masked));
      }
  return out;
}

TEST(AttnFwdSm80, SpaceIsSmallAndHoldsTheDefault) {
  for (const std::string_view target : {"sm_80", "sm_86", "sm_89", "sm_90a"}) {
    const DeviceFacts device = *facts_of_target(target);
    for (const Problem& problem : problems()) {
      ASSERT_TRUE(kAttnFwdSm80.covers(problem, device)) << text(problem);
      const Config standard = kAttnFwdSm80.default_config(problem, device);
      std::string_view why;
      EXPECT_TRUE(legal(kAttnFwdSm80, problem, standard, device, &why))
          << target << ' ' << text(problem) << ": " << why;
      EXPECT_EQ(misfit(kAttnFwdSm80.resources(problem, standard), device), "") << target << ' ' << text(problem);
      const Space space = enumerate(kAttnFwdSm80, problem, device);
      EXPECT_LE(space.size(), 256u) << target << ' ' << text(problem);
      EXPECT_EQ(std::ranges::count(space.points(), standard), 1) << target << ' ' << text(problem);
    }
  }
}

TEST(AttnFwdSm80, EveryPointFitsTheDevice) {
  for (const std::string_view target : {"sm_80", "sm_86", "sm_90a"}) {
    const DeviceFacts device = *facts_of_target(target);
    for (const Problem& problem : problems()) {
      const Space space = enumerate(kAttnFwdSm80, problem, device);
      for (const Config& config : space.points()) {
        const Resources need = kAttnFwdSm80.resources(problem, config);
        EXPECT_LE(need.min_blocks * (need.smem_bytes + 1024), device.smem_per_sm) << text(kAttnFwdSm80, config);
        EXPECT_EQ(need.threads % 32, 0);
      }
    }
  }
}

TEST(AttnFwdSm80, LeavesFloat32ToOthers) {
  hstu_attention_args args = attention_args(HSTU_DTYPE_F32, 2, 100, 1, 64, 64, 64);
  EXPECT_FALSE(kAttnFwdSm80.covers(prepare(args), *facts_of_target("sm_90a")));
  EXPECT_TRUE(kAttnF32Sm80.covers(prepare(args), *facts_of_target("sm_90a")));
}

TEST(AttnSplitSm80, LeavesBiasesAndSoftmaxToOthers) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_attention_args args = attention_args(kBf16, 2, 100, 1, 64, 64, 64);
  args.mask.kind = HSTU_MASK_LOCAL;
  EXPECT_TRUE(kAttnSplitSm80.covers(prepare(args), device));
  hstu_attention_args softmax = args;
  softmax.num_softmax_heads = 1;
  EXPECT_FALSE(kAttnSplitSm80.covers(prepare(softmax), device));
  hstu_attention_args biased = args;
  biased.rab = {buffer(7), kBf16, 4, 0, {2, 1, 64, 64}, {}};
  EXPECT_FALSE(kAttnSplitSm80.covers(prepare(biased), device));
}

struct Bound {
  Launch launch;
  const hstu::AttnFwdParams& params() const { return *reinterpret_cast<const hstu::AttnFwdParams*>(launch.params); }
};

int rows_a_block(const Problem& problem, const DeviceFacts& device) {
  const Config config = kAttnFwdSm80.default_config(problem, device);
  return config[0] * config[1];  // rows_per_warp, warps
}

void bind(const hstu_attention_args& args, const Problem& problem, Bound& bound) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  kAttnFwdSm80.bind(&args, problem, kAttnFwdSm80.default_config(problem, device), device, bound.launch);
}

TEST(AttnFwdSm80, BindsStridesScalesAndGrid) {
  hstu_attention_args args = attention_args(kBf16, 32, 60000, 4, 128, 64, 4096);
  args.k.stride[0] = 4096, args.k.stride[1] = 128, args.k.stride[2] = 1;
  args.alpha = 0.25f;
  args.scaling_seqlen = 1024;
  args.mask.num_targets = hstu_vector(buffer(6), kI64, 32);
  args.mask.max_attn_len = 100;
  const Problem problem = prepare(args);
  Bound bound;
  bind(args, problem, bound);
  const int block_m = rows_a_block(problem, *facts_of_target("sm_90a"));
  const hstu::AttnFwdParams& p = bound.params();
  EXPECT_EQ(p.row_blocks, (4096 + block_m - 1) / block_m);
  EXPECT_EQ(bound.launch.grid[0], static_cast<uint32_t>(p.row_blocks * 32 * 4));
  EXPECT_EQ(bound.launch.grid[1], 1u);
  EXPECT_EQ(p.k, args.k.data);
  EXPECT_EQ(p.k_row_stride, 4096);
  EXPECT_EQ(p.q_row_stride, 512);
  EXPECT_EQ(p.v_row_stride, 256);
  EXPECT_EQ(p.out_head_stride, 64);
  EXPECT_EQ(p.half_alpha, 0.125f);
  EXPECT_EQ(p.scale, 1.0f / 1024);
  EXPECT_EQ(p.batch, 32);
  EXPECT_EQ(p.num_heads, 4);
  EXPECT_EQ(p.max_attn_len, 100);
  EXPECT_EQ(p.contextual_seq_len, 0);
  EXPECT_GE(p.section_pairs, 1);
  EXPECT_LE(p.section_pairs, 32 * 4);
}

/// Whether tiles of contextual rows stand before their section.
bool are_early(int64_t batch, int64_t longest, int64_t contextual, int64_t window) {
  hstu_attention_args args = attention_args(kBf16, batch, batch * longest, 4, 128, 128, longest);
  args.mask.contextual_seq_len = contextual;
  args.mask.max_attn_len = window;
  const Problem problem = prepare(args);
  Bound bound;
  bind(args, problem, bound);
  return bound.params().first_early != 0;
}

TEST(AttnFwdSm80, TilesOfContextualRowsComeEarlyWhereTheyWouldBeWaitedFor) {
  EXPECT_TRUE(are_early(8, 8192, 8, 256));
  EXPECT_TRUE(are_early(32, 2048, 64, 256));
  EXPECT_FALSE(are_early(32, 1024, 8, 256)) << "hardly longer than the others of a section";
  EXPECT_FALSE(are_early(8, 8192, 8, 0)) << "no window: all tiles are long";
  EXPECT_FALSE(are_early(8, 8192, 0, 256)) << "no contextual rows";
  EXPECT_FALSE(are_early(8, 8192, 8, int64_t{1} << 40)) << "a window of everything";
}

TEST(AttnFwdSm80, GridCoversNoMoreThanTheRowsThereAre) {
  hstu_attention_args args = attention_args(kBf16, 3, 500, 2, 64, 64, int64_t{1} << 40);
  const Problem problem = prepare(args);
  Bound bound;
  bind(args, problem, bound);
  const int block_m = rows_a_block(problem, *facts_of_target("sm_90a"));
  EXPECT_EQ(bound.launch.grid[0], static_cast<uint32_t>((500 + block_m - 1) / block_m * 6));
}

TEST(AttnFwdSm80, HugeGridsLoopInsteadOfOverflowing) {
  hstu_attention_args args = attention_args(kBf16, int64_t{1} << 24, int64_t{1} << 34, 32, 64, 64, int64_t{1} << 20);
  const Problem problem = prepare(args);
  Bound bound;
  bind(args, problem, bound);
  EXPECT_GE(bound.params().row_blocks, 1);
  EXPECT_EQ(bound.launch.grid[0], (uint64_t{1} << 29) * static_cast<uint64_t>(bound.params().row_blocks));
}

TEST(AttnFwdSm80, LaunchesNothingWithoutSequencesOrRows) {
  for (const auto& [batch, rows] : {std::pair<int64_t, int64_t>{0, 0}, {5, 0}}) {
    hstu_attention_args args = attention_args(kF16, batch, rows, 2, 64, 64, 128);
    const Problem problem = prepare(args);
    Bound bound;
    bind(args, problem, bound);
    EXPECT_EQ(bound.launch.grid[0], 0u) << batch << ' ' << rows;
  }
}

TEST(AttnFwdSm80, ConfigNamesTheFeatures) {
  hstu_attention_args args = attention_args(kF16, 8, 1000, 2, 64, 32, 128);
  args.mask.contextual_seq_len = 3;
  const Problem problem = prepare(args);
  ConfigText members;
  kAttnFwdSm80.write_config(members, problem, kAttnFwdSm80.default_config(problem, *facts_of_target("sm_80")));
  for (const std::string_view expected :
       {"using Element = f16;", "using Offset = i64;", "kHeadDimQk = 64", "kHeadDimV = 32", "kVectorIo = true",
        "kCausal = true", "kHasTargets = false", "kContextual = true", "kMaxAttnLen = false", "kAttnScale = false"})
    EXPECT_NE(members.str().find(expected), std::string::npos) << expected << " in " << members.str();
}

}  // namespace
}  // namespace hstujit
