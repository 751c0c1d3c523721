#include "chain/engine.hpp"

namespace hstujit::chain {

void Readiness::ask(Context& context, std::span<Step> steps, PartName part, CUstream stream) {
  for (Step& step : steps) {
    if (step.plan) continue;
    try {
      in_part(part,
              [&] { named(step.name, [&] { step.plan = context.make_ready(step.problem, step.args, stream); }); });
    } catch (const Error& error) {
      if (error.status() != HSTU_ERROR_NOT_READY) throw;
      if (!not_ready_) not_ready_ = error;
    }
  }
}

void run_steps(Context& context, std::span<const Step> steps, CUstream stream) {
  for (const Step& step : steps) named(step.name, [&] { context.run(step.problem, step.args, stream); });
}

bool run_rest(Context& context, std::span<const Step> steps, const Error& error, CUstream stream) {
  const Step& failed = steps.front();
  if (!failed.plan || !context.launch_default(*failed.plan, error, failed.args, stream)) return false;
  run_steps(context, steps.subspan(1), stream);
  return true;
}

bool BoundSteps::add(const Context& context, std::span<Step> steps, PartName part) {
  for (const Step& step : steps)
    if (!step.plan || !step.plan->kernel) return false;
  for (size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    if (!step.launch) {
      Launch& own = launches_[count_];
      own = {};
      in_part(part, [&] { named(step.name, [&] { context.bind(*step.plan, step.args, own); }); });
      step.launch = &own;
    }
    room_[count_++] = {step.name, step.plan, step.launch, {part.index, i}};
  }
  return true;
}

void BoundSteps::launch(const Context& context, const char* parts, CUstream stream, Place& at) const {
  for (const Bound& bound : room_.first(count_)) {
    at = bound.place;
    in_part({parts, at.part}, [&] { named(bound.name, [&] { context.launch(*bound.plan, *bound.launch, stream); }); });
  }
}

}  // namespace hstujit::chain
