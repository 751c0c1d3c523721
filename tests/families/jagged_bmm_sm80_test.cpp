// What jagged_bmm_sm80 refuses because it would spill does spill, and its nearest neighbours do not.
#include "families/families.hpp"
#include "jit/jit.hpp"
#include "specialise/source.hpp"
#include "support/env.hpp"
#include "support/nvrtc.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hstujit {
namespace {

Problem product(std::string_view dtype, int dense_transposed, int vector) {
  return *parse_problem(
      fmt::format("jagged_dense_bmm_broadcast_add dtype={0} offset_dtype=i64 n=512 k=512 bias=1 bias_dtype={0} "
                  "dense_transposed={1} vector_x={2} vector_w={2} vector_z={2} batch=512 rows=524288",
                  dtype, dense_transposed, vector));
}

class Spilling : public testing::Test {
 protected:
  const DeviceFacts device_ = *facts_of_target("sm_90a");

  bool taken(const Problem& problem, const Config& config) const {
    EXPECT_TRUE(works(kJaggedBmmSm80, problem, config, device_));
    return legal(kJaggedBmmSm80, problem, config, device_);
  }
  bool sound(const Problem& problem, const Config& config) {
    return jit_.obtain(specialise(kJaggedBmmSm80, problem, config, device_))->flaw().empty();
  }

 private:
  Jit jit_{{.store_path = "", .system_store_path = "", .kernels_path = "", .nvrtc_path = Environment::read().libnvrtc}};
};

TEST_F(Spilling, OfSlicesOf64F32IsKnown) {
  HSTU_NEEDS_NVRTC();
  const Problem straight = product("f32", 0, 4), transposed = product("f32", 1, 4);
  const Config few_copies{{64, 128, 64, 2, 4, 2, 8, 1}}, many_copies{{64, 64, 64, 2, 2, 2, 8, 1}};
  EXPECT_TRUE(taken(straight, few_copies) && sound(straight, few_copies));
  EXPECT_FALSE(taken(straight, many_copies) || sound(straight, many_copies));
  EXPECT_FALSE(taken(transposed, few_copies) || sound(transposed, few_copies));
}

TEST_F(Spilling, BesideARowOfBiasIsKnown) {
  HSTU_NEEDS_NVRTC();
  const Problem straight = product("bf16", 0, 8), transposed = product("bf16", 1, 8);
  const Config two_slices{{128, 128, 64, 2, 2, 2, 8, 2}}, three_slices{{128, 128, 64, 2, 2, 3, 8, 2}};
  EXPECT_TRUE(taken(straight, three_slices) && sound(straight, three_slices));
  EXPECT_FALSE(taken(straight, two_slices) || sound(straight, two_slices));
  EXPECT_FALSE(taken(transposed, three_slices) || sound(transposed, three_slices));
}

}  // namespace
}  // namespace hstujit
