// Products of sequences with matrices of their own, plus bias: facts, checks, key, cost and reference.
#include "operators/jagged/jagged_dense_bmm_broadcast_add.hpp"

#include "operators/dense/product_terms.hpp"
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_checks.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_jagged_dense_bmm_broadcast_add_args;

constexpr TensorSlot kTensors[] = {
    {"jagged", offsetof(Args, jagged), TensorRole::input, of_rank(2, kFloating)},
    {"dense", offsetof(Args, dense), TensorRole::input, of_rank(3, kFloating, 3), 1},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {{"elementwise", offsetof(Args, elementwise), ScalarSlot::Kind::i64}};
enum : size_t { kSeqOffsets = 3 };  // slot of kTensors

enum : int32_t { kNoBias = 0, kSequenceBias = 1, kElementBias = 2 };

/// Along k for matrices stored [n, k], whose middle stride becomes 1 then, and for those whose elements lie apart.
Operand operand_of_all(hstu_tensor& dense) {
  int contiguous = 2;
  if (dense.stride[2] != 1) {
    if (dense.stride[1] != 1 && dense.shape[1] > 1) return {};
    dense.stride[1] = 1;
    contiguous = 1;
  }
  checks::Vector vector(dense.dtype);
  vector.address(dense).length(dense.stride[0]).length(dense.stride[3 - contiguous]).length(dense.shape[contiguous]);
  vector.lines(dense.shape[3 - contiguous], dense.stride[3 - contiguous], dense.shape[contiguous]);
  return {contiguous == 1, vector.elements()};
}

int32_t check_bias(Args& args, const checks::Tensor& out, int64_t batch) {
  checks::flag("elementwise", args.elementwise);
  if (!checks::given("bias", args.bias)) {
    if (args.elementwise) fail(HSTU_ERROR_INVALID_ARGUMENT, "bias is absent, but elementwise = 1: leave that 0");
    return kNoBias;
  }
  const checks::Tensor bias = checks::required<2>("bias", args.bias);
  checks::floating(bias);
  checks::extent(bias, 1, out.t.shape[1], "n = dense.shape[2]");
  if (!args.elementwise) {
    checks::extent(bias, 0, batch, "batch = seq_offsets.shape[0] - 1");
    checks::disjoint(out, bias);
    return kSequenceBias;
  }
  checks::same_dtype(bias, out);
  checks::extent(bias, 0, out.t.shape[0], "total = jagged.shape[0]");
  checks::disjoint_or_same(out, bias);
  return kElementBias;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_bmm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor jagged = checks::required<2>("jagged", args.jagged), out = checks::required<2>("out", args.out);
  const checks::Tensor dense = checks::required_any_strides<3>("dense", args.dense);
  const checks::Tensor offsets = checks::offsets("seq_offsets", args.seq_offsets);
  const int64_t batch = offsets.t.shape[0] - 1;
  checks::floating(jagged);
  checks::same_dtype(dense, jagged);
  checks::same_dtype(out, jagged);
  checks::extent(dense, 0, batch, "batch = seq_offsets.shape[0] - 1");
  checks::extent(dense, 1, jagged.t.shape[1], "k = jagged.shape[1]");
  checks::extent(out, 0, jagged.t.shape[0], "total = jagged.shape[0]");
  checks::extent(out, 1, dense.t.shape[2], "n = dense.shape[2]");
  checks::no_self_overlap(out);
  for (const checks::Tensor* in : {&jagged, &dense, &offsets}) checks::disjoint(out, *in);
  const Operand matrices = operand_of_all(args.dense);
  const int32_t bias = check_bias(args, out, batch);

  checks::Vector vector_z(out.t.dtype);
  vector_z.tensor(out.t);
  if (bias == kElementBias) vector_z.tensor(args.bias);

  Problem problem{Op::jagged_dense_bmm_broadcast_add, {}};
  problem[jagged_bmm::kDtype] = jagged.t.dtype;
  problem[jagged_bmm::kOffsetDtype] = offsets.t.dtype;
  problem[jagged_bmm::kN] = checks::field(dense, 2);
  problem[jagged_bmm::kK] = checks::field(dense, 1);
  problem[jagged_bmm::kBias] = bias;
  problem[jagged_bmm::kBiasDtype] = args.bias.dtype;
  problem[jagged_bmm::kDenseTransposed] = matrices.along_k;
  problem[jagged_bmm::kVectorX] = checks::Vector(jagged.t.dtype).tensor(jagged.t).elements();
  problem[jagged_bmm::kVectorW] = matrices.vector;
  problem[jagged_bmm::kVectorZ] = vector_z.elements();
  problem[jagged_bmm::kBatch] = bucket(batch);
  problem[jagged_bmm::kRows] = bucket(jagged.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const int64_t batch = args.seq_offsets.shape[0] - 1;
  const auto rows = static_cast<double>(integer_at(args.seq_offsets, batch));
  const auto k = static_cast<double>(args.dense.shape[1]), n = static_cast<double>(args.dense.shape[2]);
  const double bias_rows = !present(args.bias) ? 0 : args.elementwise ? rows : static_cast<double>(batch);
  return {.flops = 2 * rows * k * n,
          .bytes = (rows * (k + n) + static_cast<double>(batch) * k * n) * size_of(args.jagged.dtype) +
                   bias_rows * n * size_of(args.bias.dtype) + static_cast<double>(extent_bytes(args.seq_offsets))};
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kSeqOffsets], no_targets);
}

namespace reference {
namespace {

using Row = std::vector<double>;

/// A sequence's matrix, row-major.
Row load_matrix(const hstu_tensor& dense, int64_t sequence) {
  const int64_t k = dense.shape[1], n = dense.shape[2];
  Row matrix(static_cast<size_t>(k * n));
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j)
      load(dense, sequence * dense.stride[0] + i * dense.stride[1] + j * dense.stride[2], 1,
           &matrix[static_cast<size_t>(i * n + j)]);
  return matrix;
}

/// row = x matrix + row
void multiply(const Row& x, const Row& matrix, Row& row) {
  const size_t n = row.size();
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < n; ++j) row[j] += x[i] * matrix[i * n + j];
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t k = args.dense.shape[1], n = args.dense.shape[2];
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.jagged.shape[0]);
  const Output out(args.out, exact);
  const double operations = 2.0 * static_cast<double>(offsets.back()) * static_cast<double>(k) * static_cast<double>(n);
  parallel_for(static_cast<int64_t>(offsets.size()) - 1, operations, [&](int64_t b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], end = offsets[static_cast<size_t>(b) + 1];
    if (begin == end) return;
    const Row matrix = load_matrix(args.dense, b);
    for (int64_t r = begin; r < end; ++r) {
      Row x(static_cast<size_t>(k)), row(static_cast<size_t>(n));
      load(args.jagged, r * args.jagged.stride[0], k, x.data());
      if (present(args.bias)) load(args.bias, (args.elementwise ? r : b) * args.bias.stride[0], n, row.data());
      multiply(x, matrix, row);
      out.write(r, 0, n, row.data());
    }
  });
}

}  // namespace reference

}  // namespace hstujit
