// f64 where f32 may stand, over all operators: the reference computes in double precision anyhow, so that results are
// those of f32 but for their last rounding. No kernel takes it, and only copies move it on a GPU.
#include "operators/f64.hpp"

#include "cuda/device.hpp"
#include "families/family.hpp"
#include "operators/sample_args.hpp"
#include "support/element.hpp"
#include "support/small_calls.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace hstujit {
namespace {

constexpr Dtypes kF64Bit = Dtypes{1} << HSTU_DTYPE_F64;

int64_t count_of(const hstu_tensor& t) {
  int64_t count = present(t) ? 1 : 0;
  for (int d = 0; d < t.rank; ++d) count *= t.shape[d];
  return count;
}

std::vector<double> elements_of(const hstu_tensor& t) {
  std::vector<double> out(static_cast<size_t>(count_of(t)));
  load(t, 0, count_of(t), out.data());
  return out;
}

/// The call's args with every f32 tensor that may be f64 as one; buffers keeps their elements.
ArgsBytes widened(const test::SmallCall& call, std::deque<std::vector<double>>& buffers, int& changed) {
  ArgsBytes args = call.args();
  for (const TensorSlot& slot : call.op().tensors) {
    hstu_tensor& t = tensor_at(static_cast<void*>(args.data()), slot);
    if (t.dtype != HSTU_DTYPE_F32 || (slot.form.dtypes & kF64Bit) == 0) continue;
    buffers.push_back(elements_of(t));
    t.data = buffers.back().data();
    t.dtype = HSTU_DTYPE_F64;
    ++changed;
  }
  return args;
}

class F64 : public testing::TestWithParam<size_t> {
 protected:
  static const std::vector<Calls>& calls() {
    static const std::vector<Calls> all = test::small_calls();
    return all;
  }
  const test::SmallCall call_{calls()[GetParam()]};
};

TEST_P(F64, IsWhatF32IsBeforeItIsRounded) {
  std::deque<std::vector<double>> buffers;
  int changed = 0;
  ArgsBytes wide = widened(call_, buffers, changed), narrow = call_.args();
  const Operator& op = call_.op();
  ASSERT_NO_THROW(op.prepare(wide.data())) << call_.name();
  op.reference(wide.data(), nullptr);
  op.prepare(narrow.data());
  op.reference(narrow.data(), nullptr);
  for (const TensorSlot& slot : op.tensors) {
    if (slot.role != TensorRole::output) continue;
    const std::vector<double> got = elements_of(tensor_at(static_cast<const void*>(wide.bytes.data()), slot));
    const std::vector<double> expected = elements_of(tensor_at(static_cast<const void*>(narrow.bytes.data()), slot));
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const bool same = got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]));
      EXPECT_TRUE(same || std::fabs(got[i] - expected[i]) < 1e-6 * (1 + std::fabs(expected[i])))
          << call_.name() << ": " << slot.name << ", " << got[i] << " instead of " << expected[i];
    }
  }
  // FP8 and integers have nothing that could be f64 in some of their operators; these are all.
  const std::set<std::string_view> without = {"attention_fp8", "build_sla_func", "sort_by_length"};
  EXPECT_EQ(changed == 0, without.contains(op.name) || op.name == "gated_fp8_gemm" || op.name == "complete_cumsum")
      << call_.name();
}

TEST_P(F64, HasNoKernelButForCopies) {
  std::deque<std::vector<double>> buffers;
  int changed = 0;
  ArgsBytes args = widened(call_, buffers, changed);
  const Operator& op = call_.op();
  const Problem problem = op.prepare(args.data());
  const DeviceFacts device = *facts_of_target("sm_80");
  if (!computes_in_f64(problem)) {
    EXPECT_NO_THROW(refuse_f64(problem, args.data()));
    return;
  }
  EXPECT_TRUE(families_for(problem, device).empty());
  EXPECT_TRUE(families_for(problem, *facts_of_target("sm_90a")).empty());
  try {
    refuse_f64(problem, args.data());
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_UNSUPPORTED_DTYPE);
    EXPECT_NE(error.message().find(".dtype = f64"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("\"cpu\""), std::string::npos) << error.message();
  }
}

INSTANTIATE_TEST_SUITE_P(SmallCalls, F64, testing::Range(size_t{0}, test::small_calls().size()));

TEST(F64OfCopies, HasTheKernelsOfItsSize) {
  for (const Calls& calls : test::small_calls()) {
    const test::SmallCall call(calls);
    std::deque<std::vector<double>> buffers;
    int changed = 0;
    ArgsBytes args = widened(call, buffers, changed);
    const Problem problem = call.op().prepare(args.data());
    if (changed == 0 || computes_in_f64(problem)) continue;
    EXPECT_FALSE(families_for(problem, *facts_of_target("sm_80")).empty()) << calls.name;
  }
}

}  // namespace
}  // namespace hstujit
