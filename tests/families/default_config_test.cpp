// What a family takes without measuring keeps the family's own rules, for any problem of any operator: random extents,
// layouts and options, on devices of several generations.
#include "families/families.hpp"
#include "operators/operators.hpp"
#include "support/choices.hpp"
#include "support/element.hpp"
#include "support/error.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace hstujit {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;
constexpr hstu_dtype kE4m3 = HSTU_DTYPE_E4M3, kE5m2 = HSTU_DTYPE_E5M2, kI32 = HSTU_DTYPE_I32, kI64 = HSTU_DTYPE_I64;

/// Facts of arguments, drawn one after the other: the same on every machine.
class Draw : public test::Choices {
 public:
  Draw() : Choices(2026) {}

  hstu_dtype element() { return any({kF32, kF16, kBf16, kI32, kI64, kE4m3, kE5m2}); }
  int64_t rows() { return any<int64_t>({1, 2, 17, 300, 5000, 100000, 2000000}); }
  int64_t dim() {
    switch (below(4)) {
      case 0:
        return up_to(8);
      case 1:
        return any<int64_t>({64, 128, 256, 512, 1024, 4096, 16384});
      case 2:
        return up_to(3000);
      default:
        return 8 * up_to(300);
    }
  }

  /// A buffer that is never read, of its own; one in four is not aligned, one in four has gaps between its lines.
  hstu_tensor tensor(hstu_dtype dtype, std::initializer_list<int64_t> shape) {
    hstu_tensor t = dense(dtype, shape);
    if (seldom()) t.data = static_cast<char*>(t.data) + size_of(dtype) * below(9);
    if (t.rank > 1 && seldom()) spread(t, t.rank - 1, any<int64_t>({1, 2, 3, 4, 8, 16}));
    return t;
  }
  hstu_tensor dense(hstu_dtype dtype, std::initializer_list<int64_t> shape) {
    hstu_tensor t{reinterpret_cast<void*>(static_cast<uintptr_t>(1 + buffers_++ % 60) << 42), dtype, 0, 0, {}, {}};
    for (const int64_t extent : shape) t.shape[t.rank++] = extent;
    spread(t, t.rank, 0);
    return t;
  }
  /// A matrix with its rows, its columns or neither contiguous.
  hstu_tensor matrix(hstu_dtype dtype, int64_t rows, int64_t columns) {
    switch (below(4)) {
      case 0:
        return transposed(tensor(dtype, {columns, rows}), 0);
      case 1:
        return every_other(tensor(dtype, {rows, 2 * columns}));
      default:
        return tensor(dtype, {rows, columns});
    }
  }
  static hstu_tensor transposed(hstu_tensor t, int first) {
    std::swap(t.shape[first], t.shape[first + 1]);
    std::swap(t.stride[first], t.stride[first + 1]);
    return t;
  }
  static hstu_tensor every_other(hstu_tensor t) {
    t.shape[t.rank - 1] /= 2;
    t.stride[t.rank - 1] = 2;
    return t;
  }

 private:
  /// Strides of a tensor without gaps but for `gap` elements behind each line of dimension `dim`.
  static void spread(hstu_tensor& t, int dim, int64_t gap) {
    int64_t stride = 1;
    for (int d = t.rank - 1; d >= 0; --d) {
      t.stride[d] = stride;
      stride = stride * std::max<int64_t>(t.shape[d], 1) + (d == dim ? gap : 0);
    }
  }

  int buffers_ = 0;
};

bool writes_something(const Operator& op, const void* args) {
  for (const TensorSlot& slot : op.tensors) {
    if (slot.role != TensorRole::output) continue;
    const hstu_tensor& t = tensor_at(args, slot);
    if (present(t) && std::all_of(t.shape, t.shape + t.rank, [](int64_t extent) { return extent > 0; })) return true;
  }
  return false;
}

class DefaultConfig : public testing::Test {
 protected:
  Draw draw_;

  /// Of each family that takes the problem. Arguments that prepare() refuses say nothing.
  template <class Args>
  void expect_legal(Args args) {
    args.struct_size = sizeof args;
    Problem problem;
    try {
      problem = prepare(args);
    } catch (const Error&) { return; }
    if (!writes_something(operator_of(op_of<Args>()), &args)) return;
    ++taken_;
    for (const std::string_view target : {"sm_80", "sm_86", "sm_89", "sm_90a"}) {
      const DeviceFacts device = *facts_of_target(target);
      const auto families = families_for(problem, device);
      ASSERT_FALSE(families.empty()) << target << ' ' << text(problem);
      for (const Family* family : families) {
        const Config standard = family->default_config(problem, device);
        std::string_view why;
        ASSERT_TRUE(legal(*family, problem, standard, device, &why))
            << family->name << ' ' << target << ' ' << text(problem) << ": " << why << " [" << text(*family, standard)
            << ']';
        ASSERT_EQ(misfit(family->resources(problem, standard), device), "")
            << family->name << ' ' << target << ' ' << text(problem);
      }
    }
  }

  /// Calls make() until so many problems were taken.
  template <class Make>
  void expect_all_legal(const Make& make) {
    constexpr int kProblems = 6000, kMostTries = 10 * kProblems;
    for (int i = 0; i < kMostTries && taken_ < kProblems; ++i) {
      make();
      if (HasFatalFailure()) return;
    }
    EXPECT_GE(taken_, kProblems) << "prepare() refuses nearly all";
  }

 private:
  int taken_ = 0;
};

/// Heads, mask and scales of the attention operators.
struct Heads {
  int64_t batch, kv, heads, dim_qk, dim_v;
  explicit Heads(Draw& d)
      : batch(d.up_to(900)),
        kv(d.up_to(8)),
        heads(kv * d.up_to(3)),
        dim_qk(d.up_to(256)),
        dim_v(d.coin() ? dim_qk : d.up_to(256)) {}
};
template <class Args>
void set_mask(Draw& d, Args& args, const Heads& h, int64_t rows) {
  args.mask.kind = static_cast<hstu_mask>(d.below(4));
  args.max_seq_len = d.up_to(4000);
  if (args.mask.kind == HSTU_MASK_CAUSAL) {
    if (d.coin()) {
      args.mask.num_targets = d.dense(d.integer(), {h.batch});
      args.mask.target_group_size = static_cast<int32_t>(d.below(4));
    }
    if (d.seldom()) args.mask.contextual_seq_len = d.up_to(99);
    if (args.mask.contextual_seq_len == 0 && d.seldom()) args.mask.num_contexts = d.dense(d.integer(), {h.batch});
    if (d.coin()) {
      args.mask.max_attn_len = d.up_to(500);
      args.mask.min_full_attn_seq_len = d.below(99);
    }
  }
  if (args.mask.kind == HSTU_MASK_LOCAL)
    args.mask.window_left = d.below(99) - 2, args.mask.window_right = d.below(99) - 2;
  if (args.mask.kind == HSTU_MASK_INTERVALS)
    args.mask.intervals = d.tensor(kI32, {d.coin() ? 1 : h.heads, 2 * d.below(32) + 1, rows});
  if (d.coin()) args.attn_scale = d.dense(kF32, {d.coin() ? 1 : rows});
}
template <class Args>
void set_bias(Draw& d, Args& args, const Heads& h, hstu_dtype dtype) {
  const int64_t positions = d.up_to(300);
  if (d.seldom()) args.rab = d.tensor(dtype, {h.batch, d.coin() ? 1 : h.heads, positions, positions});
}
/// New rows of delta and paged attention.
template <class Args>
int64_t set_new_rows(Draw& d, Args& args, const Heads& h, hstu_dtype dtype) {
  const int64_t rows = h.batch * d.up_to(200);
  args.q = d.tensor(dtype, {rows, h.heads, h.dim_qk}), args.out = d.tensor(dtype, {rows, h.heads, h.dim_v});
  if (d.coin()) args.q_offsets = d.dense(d.integer(), {h.batch + 1}), args.max_q_len = d.up_to(300);
  set_mask(d, args, h, rows);
  set_bias(d, args, h, dtype);
  return rows;
}

TEST_F(DefaultConfig, OfHstuAttentionIsLegal) {
  expect_all_legal([this] {
    Draw& d = draw_;
    const Heads h(d);
    const hstu_dtype dtype = d.floating();
    const int64_t rows = d.any<int64_t>({50, 4000, 200000});
    hstu_attention_args args{};
    args.q = d.tensor(dtype, {rows, h.heads, h.dim_qk}), args.k = d.tensor(dtype, {rows, h.kv, h.dim_qk});
    args.v = d.tensor(dtype, {rows, h.kv, h.dim_v}), args.out = d.tensor(dtype, {rows, h.heads, h.dim_v});
    args.seq_offsets = d.dense(d.integer(), {h.batch + 1});
    set_mask(d, args, h, rows);
    set_bias(d, args, h, dtype);
    args.num_softmax_heads = static_cast<int32_t>(d.below(h.heads + 1));
    if (args.num_softmax_heads > 0 && d.coin()) args.lse = d.tensor(kF32, {args.num_softmax_heads, rows});
    expect_legal(args);
  });
}

TEST_F(DefaultConfig, OfFp8AttentionIsLegal) {
  expect_all_legal([this] {
    Draw& d = draw_;
    const Heads h(d);
    const int64_t rows = d.any<int64_t>({50, 4000, 200000});
    hstu_attention_fp8_args args{};
    args.q = d.tensor(kE4m3, {rows, h.heads, h.dim_qk}), args.k = d.tensor(kE4m3, {rows, h.kv, h.dim_qk});
    args.v = d.tensor(kE4m3, {rows, h.kv, h.dim_v});
    args.out = d.tensor(d.any({kF16, kBf16}), {rows, h.heads, h.dim_v});
    args.seq_offsets = d.dense(d.integer(), {h.batch + 1});
    set_mask(d, args, h, rows);
    const bool blocks = d.coin();
    args.scaling = blocks ? HSTU_FP8_ATTENTION_BLOCK : HSTU_FP8_ATTENTION_TENSOR;
    args.fast_sums = d.coin();
    const auto scales = [&](int64_t heads) {
      return blocks ? d.tensor(kF32, {(rows + 127) / 128, heads}) : d.dense(kF32, {1});
    };
    args.q_descale = scales(h.heads), args.k_descale = scales(h.kv), args.v_descale = scales(h.kv);
    expect_legal(args);
  });
}

TEST_F(DefaultConfig, OfDeltaAndPagedAttentionIsLegal) {
  expect_all_legal([this] {
    Draw& d = draw_;
    const Heads h(d);
    const hstu_dtype dtype = d.floating();
    hstu_delta_attention_args delta{};
    set_new_rows(d, delta, h, dtype);
    delta.k = d.tensor(dtype, {4000, h.kv, h.dim_qk}), delta.v = d.tensor(dtype, {4000, h.kv, h.dim_v});
    delta.seq_offsets = d.dense(d.integer(), {h.batch + 1});
    expect_legal(delta);

    hstu_paged_attention_args paged{};
    const int64_t rows = set_new_rows(d, paged, h, dtype), pages = 4 * h.batch;
    const int64_t page = d.any<int64_t>({1, 7, 16, 32, 64, 128, 300});
    const hstu_dtype integer = d.integer();
    paged.k_cache = d.tensor(dtype, {pages, page, h.kv, h.dim_qk});
    paged.v_cache = d.tensor(dtype, {pages, page, h.kv, h.dim_v});
    paged.page_offsets = d.dense(integer, {h.batch + 1}), paged.page_ids = d.dense(integer, {pages});
    paged.last_page_lens = d.dense(integer, {h.batch});
    if (present(paged.mask.num_targets))
      paged.k = d.tensor(dtype, {rows, h.kv, h.dim_qk}), paged.v = d.tensor(dtype, {rows, h.kv, h.dim_v});
    expect_legal(paged);
  });
}

TEST_F(DefaultConfig, OfFlashAttentionIsLegal) {
  expect_all_legal([this] {
    Draw& d = draw_;
    const Heads h(d);
    const hstu_dtype dtype = d.floating();
    const int64_t rows = d.any<int64_t>({50, 4000, 200000});
    hstu_flash_attention_args args{};
    args.mask.kind = d.any({HSTU_MASK_CAUSAL, HSTU_MASK_FULL});
    args.q = d.tensor(dtype, {rows, h.heads, h.dim_qk}), args.k = d.tensor(dtype, {rows, h.heads, h.dim_qk});
    args.v = d.tensor(dtype, {rows, h.heads, h.dim_v}), args.out = d.tensor(dtype, {rows, h.heads, h.dim_v});
    args.seq_offsets = d.dense(d.integer(), {h.batch + 1});
    args.max_seq_len = d.up_to(rows);
    if (d.coin()) args.lse = d.tensor(kF32, {h.heads, rows});
    expect_legal(args);
  });
}

TEST_F(DefaultConfig, OfProductsIsLegal) {
  expect_all_legal([this] {
    Draw& d = draw_;
    const hstu_dtype dtype = d.floating();
    const int64_t m = d.rows(), k = d.seldom() ? 0 : d.up_to(3000), n = d.up_to(d.coin() ? 64 : 5000);
    hstu_addmm_args addmm{};
    addmm.x = d.matrix(dtype, m, k), addmm.w = d.matrix(dtype, k, n), addmm.out = d.tensor(dtype, {m, n});
    if (d.coin()) addmm.residual = d.matrix(dtype, m, n);
    if (d.coin()) addmm.bias = d.seldom() ? d.every_other(d.dense(d.floating(), {2 * n})) : d.dense(d.floating(), {n});
    addmm.activation = d.any({HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_GELU_TANH});
    addmm.activation_columns = d.below(n + 1);
    addmm.allow_tf32 = d.coin();
    expect_legal(addmm);

    hstu_gated_mlp_args mlp{};
    mlp.x = addmm.x, mlp.gate = d.matrix(dtype, k, n), mlp.up = d.matrix(dtype, k, n), mlp.out = addmm.out;
    mlp.activation = HSTU_ACTIVATION_SILU;
    mlp.allow_tf32 = d.coin();
    expect_legal(mlp);

    hstu_fp8_gemm_args fp8{};
    fp8.x = d.tensor(d.fp8(), {m, k}), fp8.w = d.tensor(d.fp8(), {n, k});
    fp8.x_scaling = d.any({HSTU_FP8_TENSOR, HSTU_FP8_ROW}), fp8.w_scaling = d.any({HSTU_FP8_TENSOR, HSTU_FP8_ROW});
    fp8.x_descale = d.dense(kF32, {fp8.x_scaling == HSTU_FP8_ROW ? m : 1});
    fp8.w_descale = d.dense(kF32, {fp8.w_scaling == HSTU_FP8_ROW ? n : 1});
    const bool quantises = d.seldom();
    fp8.out = d.tensor(quantises ? d.fp8() : dtype, {m, n});
    if (quantises) fp8.out_descale = d.dense(kF32, {1});
    if (d.coin()) fp8.residual = d.tensor(quantises ? d.floating() : dtype, {m, n});
    if (d.coin()) fp8.bias = d.dense(d.floating(), {n});
    fp8.activation = d.any({HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_GELU_TANH});
    expect_legal(fp8);

    const int64_t batch = d.up_to(2000), columns = d.up_to(1200);
    hstu_jagged_dense_bmm_broadcast_add_args jagged{};
    jagged.jagged = d.tensor(dtype, {m, k}), jagged.out = d.tensor(dtype, {m, columns});
    jagged.dense = d.coin()   ? d.tensor(dtype, {batch, k, columns})
                   : d.coin() ? Draw::transposed(d.tensor(dtype, {batch, columns, k}), 1)
                              : Draw::every_other(d.tensor(dtype, {batch, k, 2 * columns}));
    jagged.seq_offsets = d.dense(d.integer(), {batch + 1});
    jagged.elementwise = d.seldom();
    if (jagged.elementwise)
      jagged.bias = d.tensor(dtype, {m, columns});
    else if (d.coin())
      jagged.bias = d.tensor(d.floating(), {batch, columns});
    expect_legal(jagged);
  });
}

TEST_F(DefaultConfig, OfNormsIsLegal) {
  expect_all_legal([this] {
    Draw& d = draw_;
    const hstu_dtype dtype = d.floating(), weights = d.floating();
    const int64_t rows = d.rows(), dim = d.dim();
    hstu_layer_norm_args layer{};
    layer.x = d.tensor(dtype, {rows, dim}), layer.out = d.tensor(dtype, {rows, dim});
    if (d.coin()) layer.weight = d.tensor(weights, {dim}), layer.bias = d.tensor(weights, {dim});
    expect_legal(layer);

    hstu_rms_norm_args rms{};
    rms.x = layer.x, rms.out = d.tensor(d.fp8(), {rows, dim});
    rms.scaling = HSTU_FP8_ROW, rms.descale = d.dense(kF32, {rows});
    expect_legal(rms);

    hstu_softmax_args softmax{};
    softmax.x = layer.x, softmax.out = layer.out;
    softmax.log = d.coin();
    expect_legal(softmax);

    hstu_norm_mul_args mul{};
    mul.norm = d.any({HSTU_NORM_LAYER, HSTU_NORM_SWISH});
    mul.concat_u = d.coin(), mul.concat_x = d.coin(), mul.silu_u = d.coin();
    mul.attn = layer.x, mul.u = d.tensor(dtype, {rows, dim});
    mul.weight = d.tensor(weights, {dim}), mul.bias = d.tensor(weights, {dim});
    mul.out = d.tensor(dtype, {rows, (1 + mul.concat_u + mul.concat_x) * dim});
    mul.dropout_stream = static_cast<hstu_dropout_stream>(d.below(4));
    mul.dropout_ratio = d.any({0.0f, 0.2f});
    expect_legal(mul);
  });
}

TEST_F(DefaultConfig, OfRowsByOffsetsIsLegal) {
  expect_all_legal([this] {
    Draw& d = draw_;
    const hstu_dtype dtype = d.element(), floating = d.floating();
    const int64_t batch = d.up_to(500), rows = d.rows(), dim = d.up_to(3000), most = d.up_to(100);
    hstu_jagged_to_padded_dense_args padded{};
    padded.values = d.tensor(dtype, {rows, dim}), padded.out = d.tensor(dtype, {batch, most, dim});
    padded.offsets = d.dense(d.integer(), {batch + 1});
    expect_legal(padded);

    hstu_concat_2d_jagged_args concat{};
    const int64_t others = d.rows();
    concat.left = padded.values, concat.right = d.tensor(dtype, {others, dim});
    concat.offsets_left = d.dense(d.integer(), {batch + 1}), concat.offsets_right = d.dense(d.integer(), {batch + 1});
    concat.out = d.tensor(dtype, {rows + others, dim});
    expect_legal(concat);

    hstu_jagged_reduce_sum_args sum{};
    sum.jagged = d.tensor(floating, {rows, dim}), sum.out = d.tensor(floating, {batch, dim});
    sum.seq_offsets = padded.offsets;
    expect_legal(sum);

    hstu_complete_cumsum_args cumsum{};
    const int64_t count = rows * d.any<int64_t>({1, 13});
    cumsum.values = d.dense(d.integer(), {count}), cumsum.out = d.dense(cumsum.values.dtype, {count + 1});
    expect_legal(cumsum);

    hstu_sort_kv_pairs_args sort{};
    sort.keys = d.dense(d.integer(), {count}), sort.out_keys = d.dense(sort.keys.dtype, {count});
    sort.values = d.dense(dtype, {count}), sort.out_values = d.dense(dtype, {count});
    expect_legal(sort);

    hstu_sort_by_length_args lengths{};
    lengths.offsets = d.dense(d.integer(), {count + 1}), lengths.out = d.dense(d.integer(), {count});
    expect_legal(lengths);
  });
}

}  // namespace
}  // namespace hstujit
