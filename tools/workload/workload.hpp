// What a workload file says: the traffic to tune, warm and measure for, as plain data. read_workload() turns the text
// into this and refuses whatever it does not understand; expand() (calls.hpp) turns this into operator calls.
#pragma once

#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hstujit {

/// How the lengths of a batch's sequences are distributed.
struct Lengths {
  enum class Kind {
    constant,  ///< every one is `from`
    linear,    ///< user b of batch: from + round((to - from) b / (batch - 1)), both ends included
    uniform,   ///< from..to, drawn with `seed`
    given,     ///< `list`
  };
  Kind kind = Kind::constant;
  int64_t from = 0, to = 0;
  std::optional<uint64_t> seed;  ///< uniform: of the draw; linear: the order is shuffled with it, ascending without
  std::vector<int64_t> list;
};

/// The lengths of `batch` sequences; a given list has that many.
std::vector<int64_t> draw(const Lengths& lengths, int64_t batch);

/// One jagged batch: sequence b has history[b] rows, contextual ones among them, then targets[b] candidates.
struct Sequences {
  int64_t batch = 0;
  Lengths history;
  std::optional<Lengths> targets;  ///< absent: attention gets no num_targets tensor
  hstu_dtype integer_dtype = HSTU_DTYPE_I64;
};

/// Attention's attributes; 0 means what it means in hstu_attention_args, max_seq_len 0: the longest sequence.
struct AttentionOptions {
  float alpha = 0;
  hstu_mask mask = HSTU_MASK_CAUSAL;
  int64_t max_seq_len = 0, scaling_seqlen = 0;
  int64_t contextual_seq_len = 0, max_attn_len = 0, min_full_attn_seq_len = 0;
};

/// Identical HSTU layers, one behind another, on the workload's sequences.
struct StackSpec {
  int64_t layers = 1;
  int64_t embedding_dim = 0, num_heads = 0, attn_dim = 0, hidden_dim = 0;
  float eps = 1e-6f;
  bool concat_ux = true;            ///< the output stage is [u | attn | u * norm(attn)]; else the product alone
  bool weights_transposed = false;  ///< those of the projections are stored [n, k], as FP8 has them in any case
  /// E4M3: weights are quantised once, and what the projections read as it is written. None: of the workload's type.
  hstu_dtype projections = HSTU_DTYPE_NONE;
  hstu_fp8_accumulation accumulation = HSTU_FP8_ACCUMULATE_128;  ///< of projections in FP8
  AttentionOptions attention;
};

// One operator alone. rows and m: 0 stands for the total of the workload's sequences.

struct LayerNormSpec {
  int64_t rows = 0, dim = 0;
  float eps = 0;
  bool weighted = true;
};

struct AddmmSpec {
  enum class Bias { none, row, residual, both };
  int64_t m = 0, k = 0, n = 0;
  Bias bias = Bias::row;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  int64_t activation_columns = 0;
  bool weight_transposed = false;
};

struct AttentionSpec {
  int64_t num_heads = 0, attn_dim = 0, hidden_dim = 0;
  std::optional<Sequences> sequences;  ///< absent: the workload's
  AttentionOptions options;
};

struct NormMulSpec {
  int64_t rows = 0, dim = 0, num_groups = 0;
  float eps = 0;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  bool concat_u = false, concat_x = false, silu_u = false;
};

/// A number that may hang on drawn sequences: a sum of numbers and of facts of another tensor of the call.
struct Extent {
  struct Term {
    enum class Kind { number, batch, total, longest };
    Kind kind = Kind::number;
    int64_t number = 0;
    std::string tensor;  ///< whose lengths the fact is of
  };
  std::vector<Term> terms;
};

/// A tensor of a call; integer tensors hold drawn lengths, or the offsets of sequences with these lengths.
struct TensorSpec {
  std::string name;
  hstu_dtype dtype = HSTU_DTYPE_NONE;
  std::vector<Extent> shape;         ///< of integers, which else are a vector, optional
  std::vector<int64_t> stride;       ///< empty: contiguous
  std::optional<float> mean, scale;  ///< of random elements; by default 0 and the operator's choice
  struct Integers {
    int64_t batch = 0;
    Lengths lengths;
    bool offsets = false;
  };
  std::optional<Integers> integers;
};

/// A call of any operator, spelled out by its args struct.
struct CallSpec {
  Op op{};
  std::vector<TensorSpec> tensors;
  struct Scalar {
    std::string name;
    float number = 0;              ///< f32, f64
    std::optional<Extent> extent;  ///< integers
  };
  std::vector<Scalar> scalars;
};

/// What a benchmark reports of an operator, and what it should be.
struct FigureSpec {
  enum class Rate { tflops, gbs, of_vendor, of_copy };  ///< the last two in percent, of cuBLASLt and of a device copy
  std::string id;
  Rate rate = Rate::gbs;
  std::optional<double> target;
  std::string family;  ///< whose default configuration it is of; "": what the library chooses
};

struct OperatorSpec {
  std::string name;  ///< for tables; by default the operator and its sizes
  hstu_dtype dtype = HSTU_DTYPE_BF16;
  double count = 1;  ///< how often the traffic calls it: the weight of its time
  std::variant<LayerNormSpec, AddmmSpec, AttentionSpec, NormMulSpec, CallSpec> spec;
  std::optional<FigureSpec> figure;
  std::vector<FigureSpec> family_figures;
};

struct Workload {
  std::string name;
  std::string about;
  hstu_dtype dtype = HSTU_DTYPE_BF16;
  std::optional<Sequences> sequences;
  std::optional<StackSpec> stack;
  std::vector<OperatorSpec> operators;
};

/// Throws Error{INVALID_ARGUMENT} with the JSON pointer of the offending field.
Workload parse_workload(std::string_view json);
/// The file's workload; messages start with its path.
Workload read_workload(const std::string& path);

}  // namespace hstujit
