// The gradients of a product's weight and bias: facts, checks, key, cost, edge case and reference.
#include "operators/dense/addmm_wgrad.hpp"

#include "dense/addmm_wgrad.h"
#include "operators/dense/product.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/edge_case.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hstujit {
namespace {

using Args = hstu_addmm_wgrad_args;
using checks::Tensor;
namespace key = addmm_wgrad;

constexpr int kDoutSlot = 1;  // of kTensors
constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating, 2)},
    {"dout", offsetof(Args, dout), TensorRole::input, of_rank(2, kFloating, 2)},
    {.name = "dw",
     .offset = offsetof(Args, dw),
     .role = TensorRole::output,
     .form = of_rank(2, kFloating).or_absent(),
     .sums_over = kDoutSlot,
     .accumulates = true},
    {.name = "dbias",
     .offset = offsetof(Args, dbias),
     .role = TensorRole::output,
     .form = of_rank(1, kFloating).or_absent(),
     .sums_over = kDoutSlot,
     .accumulates = true},
    {"valid_rows", offsetof(Args, valid_rows), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
constexpr std::string_view kDeterminismWords[] = {"deterministic", "fastest"};
constexpr ScalarSlot kScalars[] = {
    {"transposed", offsetof(Args, transposed), ScalarSlot::Kind::i32},
    {"accumulate", offsetof(Args, accumulate), ScalarSlot::Kind::i32},
    {"allow_tf32", offsetof(Args, allow_tf32), ScalarSlot::Kind::i32},
    {"determinism", offsetof(Args, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};

constexpr int64_t kMostPartialBytes = int64_t{64} << 20;

int64_t padded(int64_t extent) { return ceil_div(extent, key::kLargestTile) * key::kLargestTile; }
double area_bytes(int64_t k, int64_t n) {
  return static_cast<double>(padded(k)) * static_cast<double>(padded(n)) * sizeof(float);
}

size_t workspace_bytes(const void* untyped) {
  const Args& args = *static_cast<const Args*>(untyped);
  const auto extent = [](int64_t given) { return std::clamp<int64_t>(given, 0, INT32_MAX); };  // others no call has
  const int64_t m = std::max<int64_t>(args.dout.shape[0], 0), n = extent(args.dout.shape[1]);
  const int64_t k = present(args.dw) ? extent(args.x.shape[1]) : 0;
  if (k == 0 || n == 0) {
    const int64_t parts = present(args.dbias) ? key::most_bias_parts(m) : 1;
    return parts == 1 ? 0 : static_cast<size_t>(parts * padded(n)) * sizeof(float);
  }
  const int64_t parts = key::most_parts(m, k, n);
  if (parts == 1 && m <= hstu::kRowsInTensorCores) return 0;
  const int64_t bias = parts > 1 && present(args.dbias) ? padded(n) : 0;
  return static_cast<size_t>(parts) * static_cast<size_t>(padded(k) * padded(n) + bias) * sizeof(float);
}
constexpr WorkspaceSlot kWorkspace = {offsetof(Args, workspace), offsetof(Args, workspace_size), workspace_bytes};

/// Those that are there, and what must lie apart.
struct Checked {
  Tensor x, dout, dw, dbias, valid_rows;
};

int64_t check_dw(Args& args, const Tensor& x, const Tensor& dout) {
  if (!checks::given("dw", args.dw)) return 0;
  const Tensor dw = checks::required<2>("dw", args.dw);
  const int of_k = args.transposed;
  checks::extent(dw, of_k, x.t.shape[1], "k = x.shape[1]");
  checks::extent(dw, 1 - of_k, dout.t.shape[1], "n = dout.shape[1]");
  if (args.dw.dtype != HSTU_DTYPE_F32) checks::same_dtype(dw, x);
  return dw.bytes;
}

int64_t check_dbias(Args& args, const Tensor& dout) {
  if (!checks::given("dbias", args.dbias)) return 0;
  const Tensor dbias = checks::required<1>("dbias", args.dbias);
  checks::floating(dbias);
  checks::extent(dbias, 0, dout.t.shape[1], "n = dout.shape[1]");
  return dbias.bytes;
}

int64_t check_valid_rows(hstu_tensor& t) {
  if (!checks::given("valid_rows", t)) return 0;
  const Tensor valid = checks::required<1>("valid_rows", t);
  checks::integer(valid);
  checks::extent(valid, 0, 1, "one number, its extent");
  return valid.bytes;
}

Checked check_tensors(Args& args) {
  const Tensor x = checks::required_any_strides<2>("x", args.x);
  checks::floating(x);
  const Tensor dout = checks::required_any_strides<2>("dout", args.dout);
  checks::same_dtype(dout, x);
  checks::extent(dout, 0, x.t.shape[0], "m = x.shape[0]");
  Checked c{x, dout, {"dw", args.dw}, {"dbias", args.dbias}, {"valid_rows", args.valid_rows}};
  c.dw.bytes = check_dw(args, x, dout);
  c.dbias.bytes = check_dbias(args, dout);
  c.valid_rows.bytes = check_valid_rows(args.valid_rows);
  return c;
}

void check_overlaps(const Checked& c) {
  checks::no_self_overlap(c.dw);
  for (const Tensor* out : {&c.dw, &c.dbias})
    for (const Tensor* in : {&c.x, &c.dout, &c.valid_rows}) checks::disjoint(*out, *in);
  checks::disjoint(c.dw, c.dbias);
}

void check_workspace(Args& args, const Checked& c) {
  const size_t needed = workspace_bytes(&args);
  if (needed == 0) return;
  if (args.workspace_size < needed)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "workspace_size = {}: it must be at least {}, as hstu_addmm_wgrad_workspace_size() says", args.workspace_size,
         needed);
  if (!args.workspace || reinterpret_cast<uintptr_t>(args.workspace) % kWorkspaceAlignment != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace = {}: it must be device memory aligned to {} bytes", args.workspace,
         kWorkspaceAlignment);
  hstu_tensor space = hstu_vector(args.workspace, HSTU_DTYPE_F32, static_cast<int64_t>(needed / sizeof(float)));
  const Tensor workspace{"workspace", space, static_cast<int64_t>(needed)};
  for (const Tensor* other : {&c.x, &c.dout, &c.dw, &c.dbias, &c.valid_rows}) checks::disjoint(workspace, *other);
}

/// How an operand lies. Accesses along the rows would reach beyond those that are valid.
Operand summed_over_rows(hstu_tensor& t, bool has_valid_rows) {
  Operand operand = operand_of(t, 0);
  if (has_valid_rows && operand.along_k) operand.vector = std::min(operand.vector, 1);
  return operand;
}

}  // namespace

namespace addmm_wgrad {

int64_t most_parts(int64_t m, int64_t k, int64_t n) {
  const auto in_room = static_cast<int64_t>(static_cast<double>(kMostPartialBytes) / std::max(area_bytes(k, n), 1.0));
  return std::clamp<int64_t>(std::min(ceil_div(m, kLeastRows), in_room), 1, kMostParts);
}
int64_t most_bias_parts(int64_t m) { return std::clamp<int64_t>(ceil_div(m, kLeastBiasRows), 1, kMostBiasParts); }

}  // namespace addmm_wgrad

OperatorFacts facts_of(const Args*) { return {key::kFields, kTensors, kScalars, &kWorkspace, &kScalars[1]}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  for (const auto& [name, value] : {std::pair("transposed", args.transposed), std::pair("accumulate", args.accumulate),
                                    std::pair("allow_tf32", args.allow_tf32)})
    checks::flag(name, value);
  checks::flag("determinism", checks::code(args.determinism));
  const Checked c = check_tensors(args);
  check_overlaps(c);
  check_workspace(args, c);
  if (args.x.dtype != HSTU_DTYPE_F32 || !present(args.dw)) args.allow_tf32 = 0;
  const bool has_valid_rows = present(args.valid_rows);
  const Operand x = summed_over_rows(args.x, has_valid_rows), dout = summed_over_rows(args.dout, has_valid_rows);

  Problem problem{op_of<Args>(), {}};
  problem[key::kDtype] = args.x.dtype;
  problem[key::kGradientDtype] = args.dw.dtype;
  problem[key::kBiasDtype] = args.dbias.dtype;
  problem[key::kN] = checks::field(c.dout, 1);
  problem[key::kDoutAlongRows] = dout.along_k;
  problem[key::kVectorDout] = dout.vector;
  if (present(args.dw)) {
    problem[key::kK] = checks::field(c.x, 1);
    problem[key::kTransposed] = args.transposed;
    problem[key::kXAlongRows] = x.along_k;
    problem[key::kVectorX] = x.vector;
    problem[key::kVectorDw] = checks::Vector(args.dw.dtype).tensor(args.dw).elements();
    problem[key::kAllowTf32] = args.allow_tf32;
  }
  problem[key::kM] = bucket(args.x.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double m = static_cast<double>(args.x.shape[0]), k = static_cast<double>(args.x.shape[1]);
  const double n = static_cast<double>(args.dout.shape[1]);
  const bool dw = present(args.dw);
  const int times = 1 + args.accumulate;
  return {.flops = (dw ? 2 * m * n * k : 0) + (present(args.dbias) ? m * n : 0),
          .bytes = (dw ? m * k * size_of(args.x.dtype) : 0) + m * n * size_of(args.dout.dtype) +
                   times * (k * n * size_of(args.dw.dtype) + n * size_of(args.dbias.dtype))};
}

void make_edge_case(Args& args, Integers& integers) {
  const int64_t rows = edge_case::ragged(args.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.x, &args.dout});
  for (std::vector<int64_t>& valid_rows : integers)  // the one tensor of integers
    for (int64_t& valid : valid_rows) valid = std::min(valid, rows - rows / 3);
}

namespace reference {
namespace {

constexpr int64_t kRowsAtOnce = 4096;

int64_t valid_rows_of(const Args& args) {
  const int64_t rows = args.x.shape[0];
  return present(args.valid_rows) ? std::clamp<int64_t>(integer_at(args.valid_rows, 0), 0, rows) : rows;
}

double itself(double x) { return x; }
double squared(double x) { return x * x; }

/// Rows [first, first + count) of an operand, row-major, each element through term().
std::vector<double> rows_of(const hstu_tensor& t, int64_t first, int64_t count, double (*term)(double)) {
  const int64_t columns = t.shape[1];
  std::vector<double> rows(static_cast<size_t>(count * columns));
  for (int64_t r = 0; r < count; ++r)
    load_strided(t, (first + r) * t.stride[0], t.stride[1], columns, rows.data() + r * columns);
  for (double& value : rows) value = term(value);
  return rows;
}

/// Sums over the valid rows of the products of the columns of two operands, [a's columns, b's columns].
std::vector<double> products(const Args& args, const hstu_tensor& a, const hstu_tensor& b, double (*term)(double)) {
  const int64_t m = a.shape[1], n = b.shape[1], rows = valid_rows_of(args);
  std::vector<double> sums(static_cast<size_t>(m * n));
  for (int64_t first = 0; first < rows && !sums.empty(); first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, rows - first);
    const std::vector<double> a_rows = rows_of(a, first, count, term), b_rows = rows_of(b, first, count, term);
    for_each_block(m, n, count, [&](const Block& block) {
      std::vector<double> columns(static_cast<size_t>(block.rows * count));
      std::vector<double> added(static_cast<size_t>(block.rows * block.columns));
      for (int64_t i = 0; i < block.rows; ++i)
        for (int64_t r = 0; r < count; ++r)
          columns[static_cast<size_t>(i * count + r)] = a_rows[static_cast<size_t>(r * m + block.row + i)];
      add_product(columns.data(), b_rows.data(), count, n, block, added.data());
      for (int64_t i = 0; i < block.rows; ++i)
        for (int64_t j = 0; j < block.columns; ++j)
          sums[static_cast<size_t>((block.row + i) * n + block.column + j)] +=
              added[static_cast<size_t>(i * block.columns + j)];
    });
  }
  return sums;
}

std::vector<double> weight_sums(const Args& args, double (*term)(double)) {
  return args.transposed ? products(args, args.dout, args.x, term) : products(args, args.x, args.dout, term);
}

std::vector<double> bias_sums(const Args& args, double (*term)(double)) {
  const int64_t n = args.dout.shape[1], rows = valid_rows_of(args);
  std::vector<double> sums(static_cast<size_t>(n));
  for (int64_t first = 0; first < rows; first += kRowsAtOnce) {
    const std::vector<double> some = rows_of(args.dout, first, std::min(kRowsAtOnce, rows - first), term);
    for (size_t i = 0; i < some.size(); ++i) sums[i % static_cast<size_t>(n)] += some[i];
  }
  return sums;
}

/// One row of a gradient.
void write_row(const Args& args, const hstu_tensor& to, const Output& out, int64_t row, int64_t count, double* sums) {
  if (args.accumulate) {
    std::vector<double> before(static_cast<size_t>(count));
    load(to, to.rank == 2 ? row * to.stride[0] : 0, count, before.data());
    for (int64_t i = 0; i < count; ++i) sums[i] += before[static_cast<size_t>(i)];
  }
  out.write(row, 0, count, sums);
}

}  // namespace

WgradSizes sizes_of_terms(const Args& args) {
  WgradSizes sizes;
  if (present(args.dw)) sizes.dw = weight_sums(args, squared);
  if (present(args.dbias)) sizes.dbias = bias_sums(args, squared);
  for (std::vector<double>* sums : {&sizes.dw, &sizes.dbias})
    for (double& sum : *sums) sum = std::sqrt(sum);
  return sizes;
}

void run(const Args& args, double* const* exact) {
  if (present(args.dw)) {
    std::vector<double> sums = weight_sums(args, itself);
    const Output out(args.dw, exact, 0);
    const int64_t columns = args.dw.shape[1];
    for (int64_t row = 0; row < args.dw.shape[0]; ++row)
      write_row(args, args.dw, out, row, columns, sums.data() + row * columns);
  }
  if (present(args.dbias)) {
    std::vector<double> sums = bias_sums(args, itself);
    write_row(args, args.dbias, Output(args.dbias, exact, 1), 0, args.dbias.shape[0], sums.data());
  }
}

}  // namespace reference
}  // namespace hstujit
