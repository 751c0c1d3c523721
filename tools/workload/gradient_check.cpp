#include "workload/gradient_check.hpp"

#include "support/element.hpp"
#include "workload/stack_check.hpp"

#include <cmath>

namespace hstujit {
namespace {

/// The error of a gradient of one operator in this type, spec 0.5's; errors of layers add up as those of rounding do.
double tolerance_of(const Workload& workload) {
  const double one = workload.dtype == HSTU_DTYPE_F32 ? 4e-6 : workload.dtype == HSTU_DTYPE_F16 ? 4e-3 : 2e-2;
  return one * std::sqrt(static_cast<double>(workload.stack->layers));
}

/// The same step in f32 on the CPU.
class Twin {
 public:
  Twin(Workload workload, const Stack& step, hstu_context* cpu)
      : calls_(training_step(exact(std::move(workload)), chain::Fusing(chain::FusedStages{}))),
        memory_(host_memory()),
        stack_(calls_, *memory_, 1) {
    for (const Buffer& buffer : calls_.buffers)
      if (buffer.content == Buffer::Content::random) take_over(buffer, step);
    stack_.run(cpu, nullptr);
  }
  std::vector<double> read(std::string_view buffer) const { return stack_.read(buffer); }

 private:
  static Workload exact(Workload workload) {
    workload.dtype = HSTU_DTYPE_F32;
    return workload;
  }
  void take_over(const Buffer& buffer, const Stack& step) {
    const std::vector<double> values = step.read(buffer.name);
    auto* const to = static_cast<float*>(stack_.base(buffer.name));
    for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<float>(values[i]);
  }

  Calls calls_;
  std::unique_ptr<Memory> memory_;
  Stack stack_;
};

}  // namespace

std::vector<std::string> gradients_of(const Calls& calls) {
  std::vector<std::string> names;
  for (const Buffer& buffer : calls.buffers)
    if (buffer.name == "dx" || buffer.name.starts_with("gradients.")) names.push_back(buffer.name);
  return names;
}

GradientCheck check_gradients(const Workload& workload, const Stack& step, hstu_context* cpu) {
  const Twin twin(workload, step, cpu);
  GradientCheck check;
  check.tolerance = tolerance_of(workload);
  for (const std::string& name : gradients_of(step.calls())) {
    const double error = relative_error(step.read(name), twin.read(name));
    ++check.gradients;
    if (error <= check.relative_error || std::isnan(check.relative_error)) continue;
    check.relative_error = error;
    check.worst = name;
  }
  return check;
}

}  // namespace hstujit
