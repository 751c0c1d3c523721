#include "fixed_call.hpp"

#include "support/error.hpp"

#include <cstring>

namespace hstujit {
namespace {

/// The first field in which two problems of one operator differ, for a message.
std::string difference(const Problem& asked, const Problem& planned) {
  int index = 0;
  for (const FieldInfo& info : fields_of(planned.op)) {
    if (asked[index] != planned[index])
      return fmt::format("{} = {}, but the plan is for {}{}", info.name, asked[index], planned[index],
                         info.kind == FieldKind::bucket ? " (as powers of two)" : "");
    ++index;
  }
  return "another operator";
}

}  // namespace

FixedCall::FixedCall(Context& context, const Operator& op, const void* args, CUstream stream) : args_(op, args) {
  if (context.make_ready(args_.problem(), args_.prepared(), stream)) look_again(context);
}

/// Binds the plan that the table has now, unless that is the one bound already.
const FixedCall::Bound& FixedCall::look_again(Context& context) const {
  const std::lock_guard lock(looking_);
  const uint64_t generation = context.plan_generation();  // before the look, so that a later exchange is noticed
  const Plan& plan = *context.find(args_.problem());
  if (bounds_.empty() || bounds_.back()->plan != &plan) {
    auto bound = std::make_unique<Bound>();
    bound->plan = &plan;
    const auto bind = [&](const void* prepared, Launch& launch) { context.bind(plan, prepared, launch); };
    if (plan.kernel) {
      bind(args_.prepared(), bound->launch);
      bound->places = AddressPlaces::find(args_, bind);
    }
    bounds_.push_back(std::move(bound));
    bound_.store(bounds_.back().get(), std::memory_order_release);
  }
  generation_.store(generation, std::memory_order_release);
  return *bounds_.back();
}

const FixedCall::Bound& FixedCall::bound(Context& context) const {
  if (generation_.load(std::memory_order_acquire) != context.plan_generation()) [[unlikely]]
    return look_again(context);
  return *bound_.load(std::memory_order_acquire);
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

void FixedCall::launch(Context& context, const void* args, CUstream stream) const {
  const bool same = !args || args_.same(args);
  if (!bound_.load(std::memory_order_relaxed) || context.records_traffic()) {
    if (!same) return launch_anew(context, args, stream);
    return context.run(args_.problem(), args_.prepared(), stream);
  }
  const Bound& now = bound(context);
  if (same) return context.launch(*now.plan, now.launch, stream);
  if (!args_.moves(args)) return launch_anew(context, args, stream);
  if (now.places) {
    Launch moved = now.launch;
    now.places->write(args, moved);
    return context.launch(*now.plan, moved, stream);
  }
  ArgsBytes moved;
  args_.move(args, moved);
  context.launch(*now.plan, moved.data(), stream);
}

}  // namespace hstujit
