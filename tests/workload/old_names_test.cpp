// Workloads that spell calls with the names that operators and members had before.
#include "workload/calls.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace hstujit {
namespace {

std::string document(const std::string& entry) {
  return R"({"format": "hstujit-workload-1", "name": "t", "operators": [)" + entry + "]}";
}

/// The call of an entry: its operator and args, whose tensors have shapes but no memory.
struct Spelled {
  explicit Spelled(const std::string& entry) : calls(expand(parse_workload(document(entry))).at(0)) {}
  const Call& call() const { return calls.calls.at(0); }
  const void* args() const { return address(call().args); }
  Calls calls;
};

void expect_same(const std::string& before, const std::string& today) {
  const Spelled old(before), now(today);
  ASSERT_EQ(old.call().op, now.call().op) << before;
  EXPECT_EQ(std::memcmp(old.args(), now.args(), operator_of(now.call().op).args_size), 0) << before;
}

TEST(OldNames, OfNorms) {
  expect_same(R"({"op": "layer_norm", "tensors": {"x": [3, 4], "weight": [4], "bias": [4], "y": [3, 4]}})",
              R"({"op": "layer_norm", "tensors": {"x": [3, 4], "weight": [4], "bias": [4], "out": [3, 4]}})");
}

TEST(OldNames, OfProductsDependOnTheRankOfWhatIsAdded) {
  expect_same(R"({"op": "addmm", "tensors": {"x": [3, 4], "w": [4, 8], "y": [8], "z": [3, 6], "z1": [3, 2]}})",
              R"({"op": "addmm", "tensors": {"x": [3, 4], "w": [4, 8], "bias": [8], "out": [3, 6], "out1": [3, 2]}})");
  expect_same(R"({"op": "addmm", "tensors": {"x": [3, 4], "w": [4, 8], "y": [3, 8], "z": [3, 8]}})",
              R"({"op": "addmm", "tensors": {"x": [3, 4], "w": [4, 8], "residual": [3, 8], "out": [3, 8]}})");
  const std::string scales =
      R"("a_descale": {"shape": [3], "dtype": "f32"}, "b_descale": {"shape": [8], "dtype": "f32"})";
  const std::string today =
      R"("x_descale": {"shape": [3], "dtype": "f32"}, "w_descale": {"shape": [8], "dtype": "f32"})";
  const auto fp8 = [](const char* a, const char* b, const std::string& its_scales, const char* added) {
    return std::string(R"({"op": "fp8_gemm", ")") + a + R"(_scaling": "row", ")" + b +
           R"(_scaling": "row", "tensors": {")" + a + R"(": {"shape": [3, 4], "dtype": "e4m3"}, ")" + b +
           R"(": {"shape": [8, 4], "dtype": "e4m3"}, )" + its_scales + added + R"(, "out": [3, 8]}})";
  };
  expect_same(fp8("a", "b", scales, R"(, "bias": [3, 8])"), fp8("x", "w", today, R"(, "residual": [3, 8])"));
  expect_same(fp8("a", "b", scales, R"(, "bias": [8])"), fp8("x", "w", today, R"(, "bias": [8])"));
}

TEST(OldNames, OfOperators) {
  const std::string behind =
      R"(", "max_seq_len": 4, "tensors": {"q": [4, 1, 8], "k": [4, 1, 8], "v": [4, 1, 8], "out": [4, 1, 8],
      "seq_offsets": {"offsets": {"batch": 1, "lengths": 4}}}})";
  expect_same(R"({"op": "hstu_attention)" + behind, R"({"op": "attention)" + behind);
  expect_same(R"({"op": "delta_hstu_attention)" + behind, R"({"op": "delta_attention)" + behind);
}

}  // namespace
}  // namespace hstujit
