// Where stages of a layer are fused: which problems of which device, and which calls are offered at all.
#include "chain/fused.hpp"

#include "chain/stages.hpp"
#include "support/host_tensor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hstujit {
namespace {

Problem norm_addmm_of(int64_t rows, const char* dtype = "bf16", int64_t k = 512) {
  return *parse_problem(
      fmt::format("norm_addmm dtype={0} weight_dtype={0} n=2048 k={1} bias=1 bias_dtype={0} activation=1 "
                  "act_columns=512 weight_transposed=0 vector=8 vector_w=8 split=64 m={2}",
                  dtype, k, bucket(rows)));
}

TEST(Fused, IsForDevicesThatHaveItAndRowsThatFillThem) {
  const DeviceFacts h200 = *facts_of_target("sm_90a");
  EXPECT_TRUE(chain::takes_fused(h200, norm_addmm_of(98304)));
  EXPECT_TRUE(chain::takes_fused(h200, norm_addmm_of(98304, "f16", 64)));
  EXPECT_FALSE(chain::takes_fused(h200, norm_addmm_of(32768)));
  EXPECT_FALSE(chain::takes_fused(h200, norm_addmm_of(98304, "f32")));
  EXPECT_FALSE(chain::takes_fused(h200, norm_addmm_of(98304, "bf16", 1024)));
  EXPECT_FALSE(chain::takes_fused(*facts_of_target("sm_80"), norm_addmm_of(98304)));
}

TEST(Fused, OfNormAndProjectionIsOfferedForSixteenBitsApartFromX) {
  const auto offered = [](hstu_dtype dtype, bool apart) {
    test::HostMemory memory;
    hstu_compute_uvqk_args args{};
    args.struct_size = sizeof args;
    args.x = memory.random(dtype, {20, 32});
    args.norm_weight = memory.random(dtype, {32});
    args.norm_bias = memory.random(dtype, {32});
    args.uvqk_weight = memory.random(dtype, {32, 32});
    args.uvqk = apart ? memory.poison(dtype, {20, 32}) : args.x;
    args.dims = {1, 8, 8};
    EXPECT_EQ(hstu_compute_uvqk_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    chain::Workspace space(memory.slab(static_cast<int64_t>(args.workspace_size)).base(), args.workspace_size);
    return chain::calls_of(args, space).fused.has_value();
  };
  EXPECT_TRUE(offered(HSTU_DTYPE_BF16, true));
  EXPECT_TRUE(offered(HSTU_DTYPE_F16, true));
  EXPECT_FALSE(offered(HSTU_DTYPE_F32, true));
  EXPECT_FALSE(offered(HSTU_DTYPE_BF16, false)) << "two calls may write on x";
}

}  // namespace
}  // namespace hstujit
