// What random problems are drawn: enough kernels in each room, all operators, all mixtures of types.
#include "support/random_draw.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace hstujit::test {
namespace {

Problem drawn(const RandomKernel& kernel, uint64_t problem = 0) {
  Draw draw({.op = kernel.of.op, .kernel = kernel.number, .problem = problem}, Draw::Purpose::key);
  kernel.of.draw(draw);
  return draw.key();
}

int field(const Problem& problem, std::string_view name) {
  const auto fields = fields_of(problem.op);
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return problem.field[i];
  return -1;
}

TEST(RandomDraws, EachRoomHasItsKernels) {
  for (const std::string_view room : random_rooms()) EXPECT_GE(random_kernels(room).size(), 100u) << room;
}

TEST(RandomDraws, EachOperatorHasSome) {
  std::set<Op> seen;
  for (const std::string_view room : random_rooms())
    for (const RandomKernel& kernel : random_kernels(room)) {
      EXPECT_EQ(drawn(kernel).op, kernel.of.op);
      seen.insert(kernel.of.op);
    }
  for (const Operator& op : operators()) EXPECT_TRUE(seen.contains(op.op)) << op.name;
}

TEST(RandomDraws, AreTheSameEachTimeAndDifferFromProblemToProblem) {
  for (const std::string_view room : random_rooms()) {
    const auto kernels = random_kernels(room), again = random_kernels(room);
    ASSERT_EQ(kernels.size(), again.size());
    for (size_t i = 0; i < kernels.size(); i += 10) EXPECT_EQ(drawn(kernels[i]), drawn(again[i]));
  }
}

/// Problems of a kernel share what shapes code, so that few kernels serve them.
TEST(RandomDraws, ProblemsOfAKernelShareItsFacts) {
  int all = 0, other = 0;
  std::string examples;
  for (const std::string_view room : random_rooms())
    for (const RandomKernel& kernel : random_kernels(room)) {
      const Problem first = drawn(kernel), next = drawn(kernel, 1);
      const auto fields = fields_of(first.op);
      ++all;
      for (size_t i = 0; i < fields.size(); ++i)
        if (fields[i].kind != FieldKind::bucket && first.field[i] != next.field[i]) {
          ++other;
          examples += text(first) + " | " + text(next) + "\n";
          break;
        }
    }
  EXPECT_LT(10 * other, all) << examples;
}

/// Two tensors of a call whose types differ in every way.
struct Mixed {
  Op op;
  const char *rows, *weights, *width;
  bool only_16_bits = false;  ///< the rows, and weights of their type or f32
};
void PrintTo(const Mixed& mixed, std::ostream* out) { *out << name_of(mixed.op) << ' ' << mixed.weights; }
constexpr Mixed kMixed[] = {{Op::layer_norm, "dtype", "weight_dtype", "dim"},
                            {Op::rms_norm, "dtype", "weight_dtype", "dim"},
                            {Op::swish_layer_norm, "dtype", "weight_dtype", "dim"},
                            {Op::group_norm, "dtype", "weight_dtype", "dim"},
                            {Op::norm_mul, "dtype", "weight_dtype", "dim"},
                            {Op::rms_norm_rope, "dtype", "weight_dtype", "dim"},
                            {Op::rms_norm_rope, "dtype", "angle_dtype", "dim"},
                            {Op::add_positional_embeddings, "dtype", "table_dtype", "dim"},
                            {Op::add_timestamp_positional_embeddings, "dtype", "table_dtype", "dim"},
                            {Op::jagged_dense_broadcast_add, "dtype", "table_dtype", "dim"},
                            {Op::rel_bias, "dtype", "table_dtype", nullptr},
                            {Op::addmm, "dtype", "bias_dtype", "n"},
                            {Op::jagged_dense_bmm_broadcast_add, "dtype", "bias_dtype", "n"},
                            {Op::gated_addmm, "dtype", "weight_dtype", nullptr, true},
                            {Op::norm_addmm, "dtype", "weight_dtype", nullptr, true},
                            {Op::gated_fp8_gemm, "dtype", "weight_dtype", nullptr, true}};

class MixedTypes : public testing::TestWithParam<Mixed> {};

// Rows of 16 bits with weights, tables and biases of f32 among them, at widths off every vector, too.
TEST_P(MixedTypes, AreAllDrawn) {
  const Mixed& mixed = GetParam();
  std::set<std::pair<int, int>> mixtures;
  bool narrow = mixed.width == nullptr;
  for (const std::string_view room : random_rooms())
    for (const RandomKernel& kernel : random_kernels(room)) {
      if (kernel.of.op != mixed.op) continue;
      const Problem problem = drawn(kernel);
      const int rows = field(problem, mixed.rows), weights = field(problem, mixed.weights);
      mixtures.emplace(rows, weights);
      if (mixed.width && is_16_bit(rows) && weights == HSTU_DTYPE_F32)
        narrow |= field(problem, mixed.width) % 8 != 0 && field(problem, mixed.width) > 100;
    }
  for (const hstu_dtype rows : {HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_BF16})
    for (const hstu_dtype weights : {HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_BF16}) {
      const bool refused = mixed.only_16_bits && (rows == HSTU_DTYPE_F32 || (weights != rows && is_16_bit(weights)));
      EXPECT_TRUE(refused || mixtures.contains({rows, weights})) << name_of(rows) << " rows, " << name_of(weights);
    }
  EXPECT_TRUE(narrow) << "no 16-bit rows off 8 elements with f32";
}
const auto kNameOf = [](const auto& info) { return fmt::format("{}_{}", name_of(info.param.op), info.param.weights); };
INSTANTIATE_TEST_SUITE_P(Operators, MixedTypes, testing::ValuesIn(kMixed), kNameOf);

}  // namespace
}  // namespace hstujit::test
