// f64 through the C API: the device "cpu" computes with it, others refuse it by the tensor's name, and none minds it
// where it is only copied.
#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

class F64OnDevices : public testing::TestWithParam<const char*> {
 protected:
  F64OnDevices() {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = GetParam();
    options.store_path = "";
    EXPECT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
  }
  ~F64OnDevices() override { hstu_context_destroy(context_); }
  bool is_cpu() const { return std::string(GetParam()) == "cpu"; }
  /// Of the calling thread's last failing call.
  static bool names(const char* text) { return std::string(hstu_last_error()).find(text) != std::string::npos; }

  hstu_context* context_ = nullptr;
};

TEST_P(F64OnDevices, IsComputedWithOnCpuAlone) {
  const std::vector<double> x = {3, 4}, weight = {1, 1};
  std::vector<double> out(2);
  hstu_rms_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(x.data(), HSTU_DTYPE_F64, 1, 2);
  args.weight = hstu_vector(weight.data(), HSTU_DTYPE_F64, 2);
  args.out = hstu_matrix(out.data(), HSTU_DTYPE_F64, 1, 2);
  args.eps = static_cast<double>(HSTU_EXACT_ZERO);
  const hstu_status status = hstu_rms_norm(context_, &args, nullptr);
  EXPECT_EQ(hstu_context_takes(context_, "rms_norm", &args), status);
  if (is_cpu()) {
    EXPECT_EQ(status, HSTU_OK) << hstu_last_error();
    EXPECT_DOUBLE_EQ(out[0] * out[0] + out[1] * out[1], 2) << "to the last bits of a double";
  } else {
    EXPECT_EQ(status, HSTU_ERROR_UNSUPPORTED_DTYPE);
    EXPECT_TRUE(names("x.dtype = f64")) << hstu_last_error();
    EXPECT_TRUE(names("\"cpu\"")) << hstu_last_error();
  }
}

TEST_P(F64OnDevices, IsCopiedEverywhere) {
  hstu_dense_to_jagged_args args{};
  args.struct_size = sizeof args;
  const std::vector<double> dense = {1, 2};
  const std::vector<int64_t> offsets = {0, 2};
  std::vector<double> out(2);
  args.dense = hstu_heads(dense.data(), HSTU_DTYPE_F64, 1, 2, 1);
  args.offsets = hstu_vector(offsets.data(), HSTU_DTYPE_I64, 2);
  args.out = hstu_matrix(out.data(), HSTU_DTYPE_F64, 2, 1);
  EXPECT_EQ(hstu_context_takes(context_, "dense_to_jagged", &args), HSTU_OK) << hstu_last_error();
}

INSTANTIATE_TEST_SUITE_P(Devices, F64OnDevices, testing::Values("cpu", "sm_80", "sm_90a"));

}  // namespace
