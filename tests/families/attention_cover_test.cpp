// No combination of options is left without a kernel: the cross product of what the attention operators take, on
// devices of several generations. Each combination has a family, and that family's configuration without measuring is
// legal and fits.
#include "families/families.hpp"
#include "operators/operators.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace hstujit {
namespace {

constexpr hstu_dtype kI32 = HSTU_DTYPE_I32, kI64 = HSTU_DTYPE_I64, kF32 = HSTU_DTYPE_F32;
constexpr int64_t kBatch = 8, kRows = 4000;

/// The start of a buffer that is never read; buffers lie 256 tebibytes apart.
void* buffer(int index) { return reinterpret_cast<void*>(static_cast<uintptr_t>(index) << 48); }

/// Digits of one number in mixed radix: an option takes its value from the next digit.
class Options {
 public:
  explicit Options(uint64_t number) : number_(number) {}
  int below(int count) {
    const auto digit = static_cast<int>(number_ % static_cast<uint64_t>(count));
    number_ /= static_cast<uint64_t>(count);
    return digit;
  }
  bool flag() { return below(2) == 1; }
  bool exhausted() const { return number_ > 0; }

 private:
  uint64_t number_;
};

/// What all attention operators take of masks and scales. False: the number says nothing new.
template <class Args>
bool set_mask(Args& args, Options& options, int64_t rows, int64_t heads) {
  args.mask.kind = static_cast<hstu_mask>(options.below(4));
  const bool targets = options.flag(), groups = options.flag(), window = options.flag(), full = options.flag();
  const int contexts = options.below(3), scale = options.below(3);
  if (args.mask.kind != HSTU_MASK_CAUSAL && (targets || groups || window || full || contexts)) return false;
  if ((groups && !targets) || (full && !window)) return false;
  if (targets) args.mask.num_targets = hstu_vector(buffer(6), kI32, kBatch);
  if (groups) args.mask.target_group_size = 5;
  if (window) args.mask.max_attn_len = 100;
  if (full) args.mask.min_full_attn_seq_len = 9;
  if (contexts == 1) args.mask.contextual_seq_len = 7;
  if (contexts == 2) args.mask.num_contexts = hstu_vector(buffer(7), kI64, kBatch);
  if (args.mask.kind == HSTU_MASK_LOCAL) args.mask.window_left = 90, args.mask.window_right = -1;
  if (args.mask.kind == HSTU_MASK_INTERVALS) args.mask.intervals = {buffer(8), kI32, 3, 0, {heads, 5, rows}, {}};
  if (scale > 0) args.attn_scale = hstu_vector(buffer(9), kF32, scale == 1 ? 1 : rows);
  args.max_seq_len = 1000;
  return true;
}

struct Shape {
  hstu_dtype dtype;
  int64_t heads, dim_qk, dim_v;
};

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (int64_t dim = 16; dim <= 256; dim += 16)
    out.push_back({dim % 32 == 0 ? HSTU_DTYPE_BF16 : HSTU_DTYPE_F16, 4, dim, dim});
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{256, 16}, {16, 256}, {96, 208}, {7, 250}, {1, 1}})
    out.push_back({HSTU_DTYPE_BF16, 3, qk, v});
  for (const int64_t dim : {16, 128, 256}) out.push_back({kF32, 4, dim, dim});
  return out;
}

hstu_tensor heads(int index, const Shape& s, int64_t rows, int64_t dim) {
  return hstu_heads(buffer(index), s.dtype, rows, s.heads, dim);
}

/// A family takes the problem, with a default that is legal and fits, wherever the library runs.
void expect_covered(const Problem& problem) {
  for (const std::string_view target : {"sm_80", "sm_86", "sm_89", "sm_90a"}) {
    const DeviceFacts device = *facts_of_target(target);
    const auto families = families_for(problem, device);
    ASSERT_FALSE(families.empty()) << target << ' ' << text(problem);
    for (const Family* family : families) {
      const Config standard = family->default_config(problem, device);
      std::string_view why;
      ASSERT_TRUE(legal(*family, problem, standard, device, &why))
          << family->name << ' ' << target << ' ' << text(problem) << ": " << why;
      ASSERT_EQ(misfit(family->resources(problem, standard), device), "")
          << family->name << ' ' << target << ' ' << text(problem);
    }
  }
}

/// Calls make(options, problems) for every number until options are exhausted; each problem once.
template <class Make>
void expect_all_covered(const Make& make) {
  for (const Shape& shape : shapes()) {
    std::set<std::string> seen;
    for (uint64_t number = 0;; ++number) {
      Options options(number);
      Problem problem;
      const bool valid = make(shape, options, problem);
      if (options.exhausted()) break;
      if (!valid || !seen.insert(text(problem)).second) continue;
      expect_covered(problem);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(seen.size(), 100u);
  }
}

TEST(AttentionCover, EveryCombinationOfHstuAttention) {
  expect_all_covered([](const Shape& s, Options& options, Problem& problem) {
    hstu_attention_args args{};
    args.struct_size = sizeof args;
    args.q = heads(1, s, kRows, s.dim_qk), args.k = heads(2, s, kRows, s.dim_qk);
    args.v = heads(3, s, kRows, s.dim_v), args.out = heads(4, s, kRows, s.dim_v);
    args.seq_offsets = hstu_vector(buffer(5), s.dim_qk % 32 ? kI32 : kI64, kBatch + 1);
    const bool valid = set_mask(args, options, kRows, s.heads);
    const int softmax = options.below(3);
    const bool lse = options.flag();
    const int bias = options.below(3);
    args.num_softmax_heads = static_cast<int32_t>(softmax == 0 ? 0 : softmax == 1 ? 1 : s.heads);
    if (lse) args.lse = hstu_matrix(buffer(10), kF32, args.num_softmax_heads, kRows);
    if (bias > 0) args.rab = {buffer(11), s.dtype, 4, 0, {kBatch, bias == 1 ? 1 : s.heads, 1000, 1000}, {}};
    if (!valid || (lse && softmax == 0) || options.exhausted()) return false;
    problem = prepare(args);
    return true;
  });
}

TEST(AttentionCover, EveryCombinationOfFp8Attention) {
  expect_all_covered([](const Shape& s, Options& options, Problem& problem) {
    const Shape results{s.dtype == kF32 ? HSTU_DTYPE_F16 : s.dtype, s.heads, s.dim_qk, s.dim_v};
    const Shape stored{HSTU_DTYPE_E4M3, s.heads, s.dim_qk, s.dim_v};
    hstu_attention_fp8_args args{};
    args.struct_size = sizeof args;
    args.q = heads(1, stored, kRows, s.dim_qk), args.k = heads(2, stored, kRows, s.dim_qk);
    args.v = heads(3, stored, kRows, s.dim_v), args.out = heads(4, results, kRows, s.dim_v);
    args.seq_offsets = hstu_vector(buffer(5), s.dim_qk % 32 ? kI32 : kI64, kBatch + 1);
    const bool valid = set_mask(args, options, kRows, s.heads);
    args.fast_sums = options.flag();
    args.scaling = options.flag() ? HSTU_FP8_ATTENTION_BLOCK : HSTU_FP8_ATTENTION_TENSOR;
    const bool blocks = args.scaling == HSTU_FP8_ATTENTION_BLOCK;
    int at = 10;
    for (hstu_tensor* t : {&args.q_descale, &args.k_descale, &args.v_descale}) {
      void* const data = buffer(at++);
      *t = blocks ? hstu_matrix(data, kF32, (kRows + 127) / 128, s.heads) : hstu_vector(data, kF32, 1);
    }
    if (!valid || options.exhausted()) return false;
    problem = prepare(args);
    return true;
  });
}

TEST(AttentionCover, EveryCombinationOfDeltaAttention) {
  expect_all_covered([](const Shape& s, Options& options, Problem& problem) {
    constexpr int64_t kNew = 32 * kBatch;
    hstu_delta_attention_args args{};
    args.struct_size = sizeof args;
    args.q = heads(1, s, kNew, s.dim_qk), args.out = heads(4, s, kNew, s.dim_v);
    const Shape kv{s.dtype, options.flag() ? s.heads : 1, s.dim_qk, s.dim_v};
    args.k = heads(2, kv, kRows, s.dim_qk), args.v = heads(3, kv, kRows, s.dim_v);
    args.seq_offsets = hstu_vector(buffer(5), s.dim_qk % 32 ? kI32 : kI64, kBatch + 1);
    if (options.flag()) args.q_offsets = hstu_vector(buffer(12), kI64, kBatch + 1), args.max_q_len = 100;
    if (options.flag()) args.rab = {buffer(11), s.dtype, 4, 0, {kBatch, 1, 1000, 1000}, {}};
    if (!set_mask(args, options, kNew, s.heads) || options.exhausted()) return false;
    problem = prepare(args);
    return true;
  });
}

/// One new row a sequence, or few, with heads of every width: less shared memory than a block of many rows has.
TEST(AttentionCover, FewNewRowsOfWideHeads) {
  for (int64_t dim = 16; dim <= 256; dim += 16)
    for (const int64_t rows : {1, 16, 17, 32})
      for (const hstu_dtype dtype : {HSTU_DTYPE_BF16, kF32})
        for (const int64_t intervals : {0, 32}) {
          const Shape s{dtype, 4, dim, dim};
          hstu_delta_attention_args delta{};
          delta.struct_size = sizeof delta;
          delta.q = heads(1, s, rows * kBatch, dim), delta.out = heads(4, s, rows * kBatch, dim);
          delta.k = heads(2, s, kRows, dim), delta.v = heads(3, s, kRows, dim);
          delta.seq_offsets = hstu_vector(buffer(5), kI64, kBatch + 1);
          delta.max_seq_len = 1000;
          hstu_paged_attention_args paged{};
          paged.struct_size = sizeof paged;
          paged.q = delta.q, paged.out = delta.out;
          paged.k_cache = {buffer(13), dtype, 4, 0, {200, 32, s.heads, dim}, {}};
          paged.v_cache = {buffer(14), dtype, 4, 0, {200, 32, s.heads, dim}, {}};
          paged.page_offsets = hstu_vector(buffer(15), kI32, kBatch + 1);
          paged.page_ids = hstu_vector(buffer(16), kI32, 150);
          paged.last_page_lens = hstu_vector(buffer(17), kI32, kBatch);
          paged.max_seq_len = 1000;
          if (intervals > 0) {
            delta.mask.kind = paged.mask.kind = HSTU_MASK_INTERVALS;
            delta.mask.intervals =
                paged.mask.intervals = {buffer(8), kI32, 3, 0, {1, 2 * intervals - 1, rows * kBatch}, {}};
          }
          expect_covered(prepare(delta));
          expect_covered(prepare(paged));
          if (testing::Test::HasFatalFailure()) return;
        }
}

TEST(AttentionCover, EveryCombinationOfPagedAttention) {
  expect_all_covered([](const Shape& s, Options& options, Problem& problem) {
    constexpr int64_t kNew = 32 * kBatch;
    hstu_paged_attention_args args{};
    args.struct_size = sizeof args;
    args.q = heads(1, s, kNew, s.dim_qk), args.out = heads(4, s, kNew, s.dim_v);
    const bool table = options.flag();
    const int64_t pages = table ? 200 : kBatch, page = table ? 32 : 1000;
    args.k_cache = {buffer(13), s.dtype, 4, 0, {pages, page, s.heads, s.dim_qk}, {}};
    args.v_cache = {buffer(14), s.dtype, 4, 0, {pages, page, s.heads, s.dim_v}, {}};
    if (table) args.page_offsets = hstu_vector(buffer(15), kI32, kBatch + 1);
    if (table) args.page_ids = hstu_vector(buffer(16), kI32, 150);
    args.last_page_lens = hstu_vector(buffer(17), kI32, kBatch);
    if (options.flag()) args.q_offsets = hstu_vector(buffer(12), kI64, kBatch + 1), args.max_q_len = 100;
    if (options.flag()) args.rab = {buffer(11), s.dtype, 4, 0, {kBatch, 1, 1000, 1000}, {}};
    if (!set_mask(args, options, kNew, s.heads) || options.exhausted()) return false;
    if (args.mask.num_targets.dtype != HSTU_DTYPE_NONE)
      args.k = heads(2, s, kNew, s.dim_qk), args.v = heads(3, s, kNew, s.dim_v);
    problem = prepare(args);
    return true;
  });
}

}  // namespace
}  // namespace hstujit
