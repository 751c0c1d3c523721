// What is said of a kernel besides its name and knobs.
#include "records/remark.hpp"

#include "records/choose.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hstujit {
namespace {

Problem product(const char* dtype) {
  return parse_problem(fmt::format("fp8_gemm dtype={} dtype_a=e4m3 dtype_b=e5m2 n=2048 k=512 scaling_a=1 scaling_b=1 "
                                   "bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 "
                                   "vector_out={} fast=0 split=0 m=8192",
                                   dtype, dtype == std::string_view("f32") ? 4 : 8))
      .value();
}

/// The line of the log about the product's plan on a device without records.
std::string line(const char* target, const char* dtype) {
  return text(choose(Records(RecordsOptions{"", ""}), product(dtype), *facts_of_target(target), false));
}
bool says_f16(const std::string& line) {
  return line.ends_with(" (default), multiplies in f16, which holds e4m3 and e5m2 exactly");
}

TEST(Remark, SaysWhereFp8IsMultipliedInF16) {
  EXPECT_TRUE(says_f16(line("sm_80", "bf16"))) << line("sm_80", "bf16");
  EXPECT_TRUE(says_f16(line("sm_86", "f32"))) << line("sm_86", "f32");
  EXPECT_TRUE(says_f16(line("sm_90a", "f32"))) << line("sm_90a", "f32");
}

TEST(Remark, SaysNothingWhereFp8ItselfIsMultiplied) {
  EXPECT_TRUE(line("sm_89", "bf16").ends_with(" (default)")) << line("sm_89", "bf16");
  EXPECT_TRUE(line("sm_90a", "bf16").ends_with(" (default)")) << line("sm_90a", "bf16");
}

TEST(Remark, SaysNothingOfOtherOperators) {
  for (const Family* family : all_families()) {
    if (family->op == Op::fp8_gemm) continue;
    EXPECT_EQ(remark(*family, Config{}), "") << family->name;
  }
}

}  // namespace
}  // namespace hstujit
