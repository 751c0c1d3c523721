// hstu_context_takes: the status and the text that the call gives, on every kind of device, without anything made.
#include "capi/fake_gpu.hpp"
#include "support/moving.hpp"
#include "support/small_calls.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace hstujit {
namespace {

using test::SmallCall;

struct Answer {
  hstu_status status;
  std::string text;
};
std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << hstu_status_name(answer.status) << ": " << answer.text;
}
Answer answer_of(hstu_status status) { return {status, status == HSTU_OK ? "" : hstu_last_error()}; }

class Device {
 public:
  explicit Device(const char* name) {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = name;
    options.store_path = options.system_store_path = "";
    options.miss_policy = HSTU_MISS_FAIL;  // calls say that they would compile
    EXPECT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
  }
  ~Device() { hstu_context_destroy(context_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Answer takes(const Operator& op, const void* args) const {
    return answer_of(hstu_context_takes(context_, op.name.data(), args));
  }
  Answer call(const Operator& op, const void* args) const {
    return answer_of(call_operator(context_, op.op, args, nullptr));
  }
  hstu_context* context() const { return context_; }

 private:
  hstu_context* context_ = nullptr;
};

/// As they are, and with each tensor taken away or in another type, and each number negative.
std::vector<ArgsBytes> spoiled(const Operator& op, const ArgsBytes& args) {
  std::vector<ArgsBytes> all{args};
  for (const TensorSlot& slot : op.tensors)
    for (const hstu_dtype dtype : {HSTU_DTYPE_NONE, HSTU_DTYPE_F16, HSTU_DTYPE_I64, HSTU_DTYPE_E5M2}) {
      hstu_tensor& t = tensor_at(static_cast<void*>(all.emplace_back(args).data()), slot);
      t.dtype = dtype;
      if (dtype == HSTU_DTYPE_NONE) t = {};
    }
  for (const ScalarSlot& slot : op.scalars) std::memset(all.emplace_back(args).data() + slot.offset, 0xff, 4);
  return all;
}

/// Counts the answers, by status.
std::map<hstu_status, int> expect_the_calls_answers(const Device& device) {
  std::map<hstu_status, int> answers;
  const auto compare = [&](const Operator& op, const ArgsBytes& given) {
    for (const ArgsBytes& args : spoiled(op, given)) {
      const Answer takes = device.takes(op, args.data()), call = device.call(op, args.data());
      ++answers[takes.status];
      if (takes.status == HSTU_OK) {
        EXPECT_TRUE(call.status == HSTU_OK || call.status == HSTU_ERROR_NOT_READY) << op.name << ": " << call;
      } else {
        EXPECT_EQ(takes.status, call.status) << op.name << ": " << takes << "\n" << call;
        EXPECT_EQ(takes.text, call.text) << op.name;
      }
    }
  };
  for (const Calls& calls : test::small_calls()) {
    const SmallCall call(calls);
    compare(call.op(), call.args());
  }
  for (const auto& [op, any] : test::workload_calls()) {
    ArgsBytes args{};
    std::memcpy(args.data(), address(any), op->args_size);
    compare(*op, args);
  }
  return answers;
}

TEST(Takes, AnswersAsTheCallDoesOnEveryGeneration) {
  for (const char* name : {"sm_80", "sm_86", "sm_89", "sm_90a"}) {
    SCOPED_TRACE(name);
    const Device device(name);
    const auto answers = expect_the_calls_answers(device);
    for (const hstu_status status :
         {HSTU_OK, HSTU_ERROR_INVALID_ARGUMENT, HSTU_ERROR_UNSUPPORTED_DTYPE, HSTU_ERROR_UNSUPPORTED})
      EXPECT_GE(answers.contains(status) ? answers.at(status) : 0, 10) << hstu_status_name(status);
  }
}

TEST(Takes, DependsOnTheDevice) {
  const Device ampere("sm_80"), hopper("sm_90a"), cpu("cpu");
  auto args = sized<hstu_norm_addmm_args>();
  const auto at = [](uintptr_t place) { return reinterpret_cast<const void*>(place << 40); };  // nothing lies there
  args.x = hstu_matrix(at(1), HSTU_DTYPE_BF16, 2048, 512);
  args.norm_weight = hstu_vector(at(2), HSTU_DTYPE_BF16, 512);
  args.norm_bias = hstu_vector(at(3), HSTU_DTYPE_BF16, 512);
  args.w = hstu_matrix(at(4), HSTU_DTYPE_BF16, 512, 1024);
  args.out = hstu_matrix(at(5), HSTU_DTYPE_BF16, 2048, 1024);
  EXPECT_EQ(hstu_context_takes(ampere.context(), "norm_addmm", &args), HSTU_ERROR_UNSUPPORTED);
  EXPECT_NE(std::string(hstu_last_error()).find("sm_80"), std::string::npos) << hstu_last_error();
  EXPECT_EQ(hstu_context_takes(hopper.context(), "norm_addmm", &args), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(hstu_context_takes(cpu.context(), "norm_addmm", &args), HSTU_OK) << hstu_last_error();
  args.x.shape[0] = args.out.shape[0] = 0;
  EXPECT_EQ(hstu_context_takes(ampere.context(), "norm_addmm", &args), HSTU_OK) << "nothing is to be done";
}

TEST(Takes, OnTheCpuWhatPrepareTakesWithoutReadingIt) {
  const Device cpu("cpu");
  for (const auto& [op, args] : test::workload_calls())  // at made-up addresses
    EXPECT_EQ(cpu.takes(*op, address(args)).status, HSTU_OK) << op->name << ": " << hstu_last_error();
}

TEST(Takes, RefusesWhatNoCallIs) {
  const Device device("sm_80");
  auto args = sized<hstu_softmax_args>();
  const auto expect_invalid = [&](hstu_context* context, const char* op, const void* given, const char* text) {
    EXPECT_EQ(hstu_context_takes(context, op, given), HSTU_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(hstu_last_error()).find(text), std::string::npos) << hstu_last_error();
  };
  expect_invalid(nullptr, "softmax", &args, "context");
  expect_invalid(device.context(), nullptr, &args, "op");
  expect_invalid(device.context(), "soft", &args, "hstu_operator_name");
  expect_invalid(device.context(), "softmax", nullptr, "args");
  args.struct_size = 3;
  expect_invalid(device.context(), "softmax", &args, "args.struct_size = 3");
}

class TakesOnAGpu : public FakeGpu {};

TEST_F(TakesOnAGpu, CompilesLoadsAndLaunchesNothing) {
  for (const hstu_miss_policy policy : {HSTU_MISS_DEFAULT, HSTU_MISS_NEAREST, HSTU_MISS_TUNE, HSTU_MISS_ASYNC}) {
    open("", policy);
    const hstu_layer_norm_args args = norm();
    EXPECT_EQ(hstu_context_takes(context_, "layer_norm", &args), HSTU_OK) << hstu_last_error();
    ASSERT_EQ(hstu_context_finish(context_), HSTU_OK);
    const hstu_counters after = counters();
    EXPECT_EQ(after.plans + after.compiles + after.store_hits + after.tunes + after.loads + after.not_ready, 0);
    EXPECT_EQ(fake_->launches(), 0);
  }
}

TEST_F(TakesOnAGpu, AnswersAFrozenContextToo) {
  open("");
  ASSERT_EQ(hstu_context_freeze(context_), HSTU_OK);
  const hstu_layer_norm_args args = norm();
  EXPECT_EQ(hstu_context_takes(context_, "layer_norm", &args), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_ERROR_NOT_READY);
}

}  // namespace
}  // namespace hstujit
