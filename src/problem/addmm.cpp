// The matrix product with bias as a problem: checks, key and cost.
#include "params/addmm_terms.h"
#include "problem/checks.hpp"
#include "problem/dense_fields.hpp"
#include "problem/edge_case.hpp"
#include "problem/operand.hpp"
#include "problem/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_addmm_args;

constexpr FieldInfo kFields[] = {{"dtype", FieldKind::dtype},
                                 {"n", FieldKind::exact},
                                 {"k", FieldKind::exact},
                                 {"bias", FieldKind::exact},
                                 {"bias_dtype", FieldKind::dtype},
                                 {"activation", FieldKind::exact},
                                 {"act_columns", FieldKind::exact},
                                 {"x_transposed", FieldKind::exact},
                                 {"weight_transposed", FieldKind::exact},
                                 {"vector_x", FieldKind::exact},
                                 {"vector_w", FieldKind::exact},
                                 {"vector_z", FieldKind::exact},
                                 {"gather_y", FieldKind::exact},
                                 {"allow_tf32", FieldKind::exact},
                                 {"split", FieldKind::exact},
                                 {"m", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input},    {"w", offsetof(Args, w), TensorRole::input, 0},
    {"y", offsetof(Args, y), TensorRole::input},    {"z", offsetof(Args, z), TensorRole::output},
    {"z1", offsetof(Args, z1), TensorRole::output}, {"z2", offsetof(Args, z2), TensorRole::output},
    {"z3", offsetof(Args, z3), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
                                   {"activation_columns", offsetof(Args, activation_columns), ScalarSlot::Kind::i64},
                                   {"allow_tf32", offsetof(Args, allow_tf32), ScalarSlot::Kind::i32}};

using hstu::kNoBias, hstu::kResidual, hstu::kRowBias;

/// The tensors that the result's columns go to, one to four.
struct Outputs {
  Args& args;
  int64_t rows, columns;
  checks::Vector vector;  ///< elements of an aligned access to any of them
  int32_t split = 0;      ///< as the key has it

  Outputs(Args& a, int64_t m, int64_t n) : args(a), rows(m), columns(n), vector(a.z.dtype) {
    const checks::Tensor z = checks::required<2>("z", args.z);
    const bool more[] = {checks::given("z1", args.z1), checks::given("z2", args.z2), checks::given("z3", args.z3)};
    if ((more[1] && !more[0]) || (more[2] && !more[1]))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there without {}", more[2] ? "z3" : "z2", more[2] ? "z2" : "z1");
    add(z, more[0]);
    if (more[0]) add(checks::required<2>("z1", args.z1), more[1]);
    if (more[1]) add(checks::required<2>("z2", args.z2), more[2]);
    if (more[2]) add(checks::required<2>("z3", args.z3), false);
    if (first_ != columns) {
      if (!more[0]) checks::extent(z, 1, columns, "n = w.shape[1]");
      fail(HSTU_ERROR_SHAPE_MISMATCH, "z, z1, ... have {} columns together: they must have n = w.shape[1] = {}", first_,
           columns);
    }
    for (int i = 0; i < count_; ++i)
      for (int j = 0; j < i; ++j) checks::disjoint(part(i), part(j));
  }
  bool whole() const { return count_ == 1; }
  checks::Tensor part(int i) const { return {kTensors[3 + i].name.data(), *parts_[i], bytes_[i]}; }
  /// None of them shares memory with the input.
  void disjoint_from(const checks::Tensor& in) const {
    for (int i = 0; i < count_; ++i) checks::disjoint(part(i), in);
  }

 private:
  void add(const checks::Tensor& z, bool another_follows) {
    checks::same_dtype(z, {"x", args.x});
    checks::extent(z, 0, rows, "m = x.shape[0]");
    checks::no_self_overlap(z);
    vector.tensor(z.t);
    parts_[count_] = &z.t;
    bytes_[count_++] = z.bytes;
    first_ += z.t.shape[1];
    if (another_follows) {
      cut_.length(first_);
      split = cut_.elements();
      vector.length(first_);
    }
  }

  hstu_tensor* parts_[4] = {};
  int64_t bytes_[4] = {};
  int count_ = 0;
  int64_t first_ = 0;  ///< of the next one's columns
  checks::Vector cut_{64};
};

/// The bias, absent, row or residual, checked against the outputs.
int32_t check_bias(hstu_tensor& t, const Outputs& outputs) {
  if (!checks::given("y", t)) return kNoBias;
  if (t.rank != 1 && t.rank != 2)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "y.rank = {}: it must be 1 (a bias row) or 2 (a residual)", t.rank);
  const checks::Tensor y =
      t.rank == 1 ? checks::required_any_strides<1>("y", t) : checks::required_any_strides<2>("y", t);
  checks::floating(y);
  if (t.rank == 1) {
    checks::extent(y, 0, outputs.columns, "n");
    outputs.disjoint_from(y);
    return kRowBias;
  }
  checks::same_dtype(y, outputs.part(0));
  checks::extent(y, 0, outputs.rows, "m = z.shape[0]");
  checks::extent(y, 1, outputs.columns, "n = w.shape[1]");
  if (outputs.whole())
    checks::disjoint_or_same(outputs.part(0), y);
  else
    outputs.disjoint_from(y);
  return kResidual;
}

void check_activation(hstu_addmm_args& args, int64_t n) {
  const int activation = checks::code(args.activation);
  if (activation != HSTU_ACTIVATION_NONE && activation != HSTU_ACTIVATION_SILU)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation = {}: addmm covers NONE (0) and SILU (1)", activation);
  checks::not_negative("activation_columns", args.activation_columns, "0 means all columns");
  if (args.activation_columns > n)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation_columns = {}: z has n = {} columns; 0 means all of them",
         args.activation_columns, n);
  if (args.activation_columns == 0) args.activation_columns = n;
}

}  // namespace

OperatorFacts facts_of(const hstu_addmm_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_addmm_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required_any_strides<2>("x", args.x);
  const checks::Tensor w = checks::required_any_strides<2>("w", args.w);
  checks::floating(x);
  checks::same_dtype(w, x);
  checks::extent(w, 0, x.t.shape[1], "k = x.shape[1]");
  Outputs outputs(args, x.t.shape[0], w.t.shape[1]);
  outputs.disjoint_from(x);
  outputs.disjoint_from(w);
  const Operand x_operand = operand_of(args.x, 1), w_operand = operand_of(args.w, 0);
  const int32_t bias = check_bias(args.y, outputs);
  const bool gathered = bias != kNoBias && args.y.stride[args.y.rank - 1] != 1;
  check_activation(args, w.t.shape[1]);
  checks::flag("allow_tf32", args.allow_tf32);
  if (x.t.dtype != HSTU_DTYPE_F32) args.allow_tf32 = 0;
  if (bias == kResidual && !gathered)
    outputs.vector.tensor(args.y).lines(args.y.shape[0], args.y.stride[0], args.y.shape[1]);

  Problem problem{Op::addmm, {}};
  problem[addmm::kDtype] = x.t.dtype;
  problem[addmm::kN] = checks::field(w, 1);
  problem[addmm::kK] = checks::field(w, 0);
  problem[addmm::kBias] = bias;
  problem[addmm::kBiasDtype] = args.y.dtype;
  problem[addmm::kActivation] = args.activation;
  const bool activated = args.activation != HSTU_ACTIVATION_NONE;
  problem[addmm::kActColumns] = activated ? static_cast<int32_t>(args.activation_columns) : 0;
  problem[addmm::kXTransposed] = !x_operand.along_k;
  problem[addmm::kWeightTransposed] = w_operand.along_k;
  problem[addmm::kVectorX] = x_operand.vector;
  problem[addmm::kVectorW] = w_operand.vector;
  problem[addmm::kVectorZ] = outputs.vector.elements();
  problem[addmm::kGatherY] = gathered;
  problem[addmm::kAllowTf32] = args.allow_tf32;
  problem[addmm::kSplit] = outputs.split;
  problem[addmm::kM] = bucket(x.t.shape[0]);
  return problem;
}

Work work_of(const hstu_addmm_args& args) {
  const double m = static_cast<double>(args.x.shape[0]), k = static_cast<double>(args.x.shape[1]);
  const double n = static_cast<double>(args.w.shape[1]), bias_rows = args.y.rank == 2 ? m : 1;
  return {.flops = 2 * m * n * k,
          .bytes = (m * k + k * n + m * n) * size_of(args.x.dtype) + bias_rows * n * size_of(args.y.dtype)};
}

void make_edge_case(hstu_addmm_args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.x, &args.z, &args.z1, &args.z2, &args.z3});
  if (args.y.rank == 2) edge_case::shorten_rows(rows, {&args.y});
}

}  // namespace hstujit
