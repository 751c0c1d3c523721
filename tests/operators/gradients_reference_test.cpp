// Every operator that has a gradient: central differences of the forward's reference against the gradient's, for each
// element of each tensor that the gradient is of, in tiny calls with every option. A gradient without a call here
// fails.
#include "operators/operators.hpp"
#include "support/element.hpp"
#include "support/small_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace hstujit::test {
namespace {

constexpr std::string_view kOfGradients = "_backward";

const Operator* forward_of(const Operator& gradient) {
  if (!gradient.name.ends_with(kOfGradients)) return nullptr;
  return &operator_of(*op_named(gradient.name.substr(0, gradient.name.size() - kOfGradients.size())));
}

int64_t count_of(const hstu_tensor& t) {
  int64_t count = present(t) ? 1 : 0;
  for (int d = 0; d < t.rank; ++d) count *= t.shape[d];
  return count;
}

const TensorSlot& slot_of(const Operator& op, std::string_view name) {
  return *std::ranges::find_if(op.tensors, [&](const TensorSlot& slot) { return slot.name == name; });
}

/// The forward call that a gradient's args begin with, its first output unrounded.
class Forward {
 public:
  Forward(const Operator& gradient, const void* args) : op_(*forward_of(gradient)), args_(op_.args_size) {
    std::memcpy(args_.data(), static_cast<const std::byte*>(args) + sizeof(size_t), op_.args_size);
    std::memcpy(args_.data(), &op_.args_size, sizeof op_.args_size);
    hstu_tensor& out = output();
    out = tensor_at(args, slot_of(gradient, "dout"));
    rounded_.resize(static_cast<size_t>(count_of(out)));
    out.data = rounded_.data();
    op_.prepare(args_.data());
  }
  const hstu_tensor& input(std::string_view name) const { return tensor_at(args_.data(), slot_of(op_, name)); }

  std::vector<double> run() {
    std::vector<double> exact(rounded_.size());
    std::vector<double*> buffers;
    for (const TensorSlot& slot : op_.tensors)
      if (slot.role == TensorRole::output) buffers.push_back(buffers.empty() ? exact.data() : nullptr);
    op_.reference(args_.data(), buffers.data());
    return exact;
  }
  /// Leaves what the gradient takes of it in the gradient's tensors, as a host has it do.
  void save(const Operator& gradient, const void* args) {
    for (const TensorSlot& slot : op_.tensors) {
      const auto saved =
          std::ranges::find_if(gradient.tensors, [&](const TensorSlot& s) { return s.name == slot.name; });
      if (slot.role == TensorRole::output && saved != gradient.tensors.end() && present(tensor_at(args, *saved)))
        tensor_at(args_.data(), slot) = tensor_at(args, *saved);
    }
    op_.prepare(args_.data());
    op_.reference(args_.data(), nullptr);
  }

 private:
  hstu_tensor& output() {
    return tensor_at(args_.data(), *std::ranges::find_if(op_.tensors, [](const TensorSlot& slot) {
                       return slot.role == TensorRole::output;
                     }));
  }

  const Operator& op_;
  std::vector<std::byte> args_;
  std::vector<float> rounded_;
};

/// A gradient's call, and what its options make of the sums.
class GradientCall {
 public:
  explicit GradientCall(const Calls& calls) : call_(calls), args_(call_.args()) { op().prepare(args_.data()); }

  const Operator& op() const { return call_.op(); }
  const void* args() const { return args_.data(); }
  const hstu_tensor& tensor(std::string_view name) const { return tensor_at(args_.data(), slot_of(op(), name)); }
  bool has(std::string_view name) const {
    return std::ranges::any_of(op().tensors, [&](const TensorSlot& slot) { return slot.name == name; }) &&
           present(tensor(name));
  }
  std::vector<double> values(std::string_view name) const {
    const hstu_tensor& t = tensor(name);
    std::vector<double> out(static_cast<size_t>(count_of(t)));
    load(t, 0, count_of(t), out.data());  // small calls are contiguous
    return out;
  }

  /// What the reference makes of the output, less what is added to it.
  std::vector<double> gradient(const TensorSlot& of) const {
    std::vector<double> exact(static_cast<size_t>(count_of(tensor(of.name))));
    std::vector<double*> buffers;
    for (const TensorSlot& slot : op().tensors)
      if (slot.role == TensorRole::output) buffers.push_back(slot.name == of.name ? exact.data() : nullptr);
    op().reference(args_.data(), buffers.data());
    std::vector<double> added(exact.size());
    if (of.name == "dx" && has("dresidual")) added = values("dresidual");
    if (adds_to(op(), of, args_.data())) added = values(of.name);
    for (size_t i = 0; i < exact.size(); ++i) exact[i] -= added[i];
    return exact;
  }

  /// Elements of dout that the output is a sum over: those of valid rows, in sums over rows.
  size_t counted(const TensorSlot& of) const {
    const hstu_tensor& dout = tensor("dout");
    const auto all = static_cast<size_t>(count_of(dout));
    if (of.sums_over < 0 || !has("valid_rows")) return all;
    return all / static_cast<size_t>(dout.shape[0]) * static_cast<size_t>(integer_at(tensor("valid_rows"), 0));
  }

  /// What the forward saves, of the call's own inputs.
  void save() { Forward(op(), args()).save(op(), args()); }

 private:
  SmallCall call_;
  ArgsBytes args_;
};

/// "dx" and "d_attn_scale" are the gradients of x and attn_scale.
std::string_view of_gradient(std::string_view name) { return name.substr(name.starts_with("d_") ? 2 : 1); }

/// The sum over the counted elements of dout times the result, by central differences in each element of the input.
std::vector<double> differences(const GradientCall& call, const TensorSlot& of) {
  constexpr float kStep = 0x1p-7f;
  Forward forward(call.op(), call.args());
  const hstu_tensor& input = forward.input(of_gradient(of.name));
  const std::vector<double> dout = call.values("dout");
  auto* const elements = static_cast<float*>(input.data);
  std::vector<double> slopes;
  for (int64_t i = 0; i < count_of(input); ++i) {
    const float before = elements[i], less = before - kStep, more = before + kStep;
    elements[i] = more;
    std::vector<double> rise = forward.run();
    elements[i] = less;
    const std::vector<double> fall = forward.run();
    elements[i] = before;
    double slope = 0;
    for (size_t j = 0; j < call.counted(of); ++j) slope += dout[j] * (rise[j] - fall[j]);
    slopes.push_back(slope / (double{more} - double{less}));
  }
  return slopes;
}

/// Differences lack terms of the step's square; moments are rounded to f32.
void expect_near(const std::vector<double>& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double size = 0;
  for (const double value : expected) size = std::max(size, std::fabs(value));
  EXPECT_GT(size, 1e-3) << what << ": nothing to compare";
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-3 * size) << what << " " << i;
}

TEST(Gradients, AreTheDifferencesOfTheirForward) {
  std::vector<std::string_view> compared;
  for (const Calls& calls : small_calls()) {
    GradientCall call(calls);
    if (!forward_of(call.op())) continue;
    call.save();
    compared.push_back(call.op().name);
    for (const TensorSlot& slot : call.op().tensors)
      if (slot.role == TensorRole::output && present(tensor_at(call.args(), slot)))
        expect_near(call.gradient(slot), differences(call, slot), calls.name + ": " + std::string(slot.name));
  }
  for (const Operator& op : operators())
    EXPECT_EQ(std::ranges::count(compared, op.name) > 0, op.name.ends_with(kOfGradients))
        << op.name << ": a small call of each gradient, tests/support/small_calls.cpp";
}

/// What the gradient of an option is, tensor by tensor: each output in calls with and without it.
TEST(Gradients, AreComparedWithEveryOptionalTensorThereAndAbsent) {
  for (const Operator& op : operators()) {
    if (!forward_of(op)) continue;
    for (const TensorSlot& slot : op.tensors) {
      int there = 0, absent = 0;
      for (const Calls& calls : small_calls()) {
        const SmallCall call(calls);
        if (call.op().op != op.op) continue;
        ++(present(tensor_at(call.args().data(), slot)) ? there : absent);
      }
      EXPECT_GT(there, 0) << op.name << ": " << slot.name;
      EXPECT_TRUE(absent > 0 || !slot.form.optional || slot.name == "dx") << op.name << ": " << slot.name;
    }
  }
}

}  // namespace
}  // namespace hstujit::test
