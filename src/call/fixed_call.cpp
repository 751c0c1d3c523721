#include "call/fixed_call.hpp"

#include "support/error.hpp"

#include <cstring>

namespace hstujit {
namespace {

Launch bound_launch(const Context& context, const Plan& plan, const void* prepared) {
  Launch launch;
  if (plan.kernel) context.bind(plan, prepared, launch);
  return launch;
}

}  // namespace

std::string difference(const Problem& asked, const Problem& planned) {
  if (asked.op != planned.op) return fmt::format("{}, but the plan is for {}", name_of(asked.op), name_of(planned.op));
  int index = 0;
  for (const FieldInfo& info : fields_of(planned.op)) {
    if (asked[index] != planned[index])
      return fmt::format("{} = {}, but the plan is for {}{}", info.name, asked[index], planned[index],
                         info.kind == FieldKind::bucket ? " (as powers of two)" : "");
    ++index;
  }
  return "the same problem";
}

FixedCall::FixedCall(Context& context, const Operator& op, const void* args, CUstream stream) : args_(op, args) {
  if (context.make_ready(args_.problem(), args_.prepared(), stream))
    look_again(context, context.plan_generation(), stream);
}

FixedCall::Bound::Bound(const Context& context, const Plan& its_plan, const MovableArgs& args, CUstream stream)
    : launch(bound_launch(context, its_plan, args.prepared())),
      plan(its_plan),
      ready(plan.kernel.get(), launch, stream) {
  if (plan.kernel)
    places =
        AddressPlaces::find(args, [&](const void* prepared, Launch& moved) { context.bind(plan, prepared, moved); });
}

void FixedCall::Bound::launch_failed(Context& context, const MovableArgs& args, CUstream stream,
                                     CUresult result) const {
  try {
    context.launch_failed(plan, launch, stream, result);
  } catch (const Error& error) {
    if (!context.launch_default(plan, error, args.prepared(), stream)) throw;
  }
}

/// Binds the plan that the table has now, unless that is the one bound already. generation: read before, so that what
/// changes since is noticed by the next launch. stream: of this launch.
const FixedCall::Bound& FixedCall::look_again(Context& context, uint64_t generation, CUstream stream) const {
  const std::lock_guard lock(looking_);
  const Plan& plan = *context.find(args_.problem());
  if (bounds_.empty() || &bounds_.back()->plan != &plan) {
    bounds_.push_back(std::make_unique<Bound>(context, plan, args_, stream));
    bound_.store(bounds_.back().get(), std::memory_order_release);
  }
  if (!context.records_traffic()) bounds_.back()->generation.store(generation, std::memory_order_relaxed);
  return *bounds_.back();
}

/// Checked and keyed like any call, then held against the plan.
void FixedCall::launch_anew(Context& context, const void* args, CUstream stream) const {
  const Operator& op = args_.op();
  ArgsBytes fresh;
  std::memcpy(fresh.data(), args, op.args_size);
  const Problem problem = op.prepare(fresh.data());
  if (!(problem == args_.problem()))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "args: {}; get a plan for these arguments, too",
         difference(problem, args_.problem()));
  context.run(problem, fresh.data(), stream);
}

void FixedCall::launch_checked(Context& context, const void* args, CUstream stream) const {
  const uint64_t generation = context.plan_generation();
  const bool same = !args || args_.same(args);
  const Bound* known = bound_.load(std::memory_order_acquire);
  if (!known || context.records_traffic()) {
    if (!same) return launch_anew(context, args, stream);
    return context.run(args_.problem(), args_.prepared(), stream);
  }
  if (known->generation.load(std::memory_order_relaxed) != generation) known = &look_again(context, generation, stream);
  if (same) return known->run(context, args_, stream);
  if (!args_.moves(args)) return launch_anew(context, args, stream);
  if (known->places) {
    Launch moved = known->launch;
    known->places->write(args, moved);
    return context.launch(known->plan, moved, stream);
  }
  ArgsBytes moved;
  args_.move(args, moved);
  context.launch(known->plan, moved.data(), stream);
}

}  // namespace hstujit
