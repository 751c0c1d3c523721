// Layer norm of rows, rounded, and the product behind it: facts, checks, key, cost and reference.
#include "operators/dense/norm_addmm.hpp"

#include "operators/dense/product.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/edge_case.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_norm_addmm_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
    {"norm_weight", offsetof(Args, norm_weight), TensorRole::input, of_rank(1, kFloating)},
    {"norm_bias", offsetof(Args, norm_bias), TensorRole::input, of_rank(1, kFloating)},
    {"w", offsetof(Args, w), TensorRole::input, of_rank(2, kFloating, 2), 0},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(1, kFloating, 1).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)},
    {"out1", offsetof(Args, out1), TensorRole::output, of_rank(2, kFloating).or_absent()},
    {"out2", offsetof(Args, out2), TensorRole::output, of_rank(2, kFloating).or_absent()},
    {"out3", offsetof(Args, out3), TensorRole::output, of_rank(2, kFloating).or_absent()}};
constexpr ScalarSlot kScalars[] = {
    {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
    {"activation_columns", offsetof(Args, activation_columns), ScalarSlot::Kind::i64, {}, kFollows},
    {"eps", offsetof(Args, eps), ScalarSlot::Kind::f32, {}, {1e-5f}}};

constexpr product_terms::Names kNames = {
    "norm_addmm", {"out", "out1", "out2", "out3"}, nullptr, "m = x.shape[0]", "n = w.shape[1]"};

/// weight or bias of the norm, apart from the results.
checks::Tensor check_affine(const char* name, hstu_tensor& t, int64_t k, const product_terms::Outputs& outputs) {
  const checks::Tensor affine = checks::required<1>(name, t);
  checks::floating(affine);
  checks::extent(affine, 0, k, "k = x.shape[1]");
  outputs.disjoint_from(affine);
  return affine;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {norm_addmm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required<2>("x", args.x), w = checks::required_any_strides<2>("w", args.w);
  checks::floating(x);
  checks::same_dtype(w, x);
  checks::extent(w, 0, x.t.shape[1], "k = x.shape[1]");
  const checks::Tensor out = checks::required<2>("out", args.out);
  checks::same_dtype(out, x);
  hstu_tensor* const parts[] = {&args.out, &args.out1, &args.out2, &args.out3};
  product_terms::Outputs outputs(kNames, out, parts, x.t.shape[0], w.t.shape[1]);
  outputs.disjoint_from(x);
  outputs.disjoint_from(w);
  const checks::Tensor weight = check_affine("norm_weight", args.norm_weight, x.t.shape[1], outputs);
  checks::same_dtype(check_affine("norm_bias", args.norm_bias, x.t.shape[1], outputs), weight);
  const int32_t bias = outputs.check_bias(args.bias, true);
  product_terms::check_activation(kNames, product_terms::Activations::silu, args.activation, args.activation_columns,
                                  w.t.shape[1]);
  args.eps = checks::eps(args.eps);
  const Operand w_operand = operand_of(args.w, 0);
  outputs.vector.tensor(args.x).lines(args.x.shape[0], args.x.stride[0], args.x.shape[1]);
  outputs.vector.address(args.norm_weight).address(args.norm_bias);

  Problem problem{Op::norm_addmm, {}};
  problem[norm_addmm::kDtype] = x.t.dtype;
  problem[norm_addmm::kWeightDtype] = weight.t.dtype;
  problem[norm_addmm::kN] = checks::field(w, 1);
  problem[norm_addmm::kK] = checks::field(w, 0);
  problem[norm_addmm::kBias] = bias;
  problem[norm_addmm::kBiasDtype] = args.bias.dtype;
  problem[norm_addmm::kActivation] = args.activation;
  const bool activated = args.activation != HSTU_ACTIVATION_NONE;
  problem[norm_addmm::kActColumns] = activated ? static_cast<int32_t>(args.activation_columns) : 0;
  problem[norm_addmm::kWeightTransposed] = w_operand.along_k;
  problem[norm_addmm::kVector] = outputs.vector.elements();
  problem[norm_addmm::kVectorW] = w_operand.vector;
  problem[norm_addmm::kSplit] = outputs.split;
  problem[norm_addmm::kM] = bucket(x.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double m = static_cast<double>(args.x.shape[0]), k = static_cast<double>(args.x.shape[1]);
  const double n = static_cast<double>(args.w.shape[1]);
  return {.flops = 2 * m * n * k,
          .bytes = (m * k + k * n + m * n) * size_of(args.x.dtype) + n * size_of(args.bias.dtype) +
                   2 * k * size_of(args.norm_weight.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out, &args.out1, &args.out2, &args.out3});
}

namespace reference {
namespace {

class NormedRows {
 public:
  explicit NormedRows(const Args& args)
      : x_(args.x),
        k_(args.x.shape[1]),
        weight_(load_vector(args.norm_weight, k_, 1)),
        bias_(load_vector(args.norm_bias, k_, 0)),
        eps_(static_cast<double>(args.eps)) {}

  void make(int64_t row, double* out) const {
    load_strided(x_, row * x_.stride[0], 1, k_, out);
    normalise(out, k_, eps_);
    for (int64_t i = 0; i < k_; ++i) {
      const auto at = static_cast<size_t>(i);
      out[i] = out[i] * weight_[at] + bias_[at];
    }
    round_to(x_.dtype, out, k_);
  }

 private:
  const hstu_tensor& x_;
  const int64_t k_;
  const std::vector<double> weight_, bias_;
  const double eps_;
};

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.w.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> w = load_matrix(args.w);
  const NormedRows normed(args);
  const ProductResults z({&args.out, &args.out1, &args.out2, &args.out3}, args.activation, args.activation_columns,
                         exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> x(static_cast<size_t>(block.rows * k)), sums(static_cast<size_t>(block.rows * block.columns));
    for (int64_t r = 0; r < block.rows; ++r) normed.make(block.row + r, x.data() + r * k);
    load_added(args.bias, {}, block, sums.data());
    add_product(x.data(), w.data(), k, n, block, sums.data());
    z.write(block, sums.data());
  });
}

}  // namespace reference

}  // namespace hstujit
