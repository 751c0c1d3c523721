// The calls of a stack of HSTU layers: the steps that the chain says it has. Layers have weights of their own, and
// share the workspace between them; they take turns with two results, so that none writes its own input. With
// projections in FP8 weights, stored transposed, are quantised by calls to be made once.
#include "chain/chains.hpp"
#include "families/family.hpp"
#include "workload/calls.hpp"
#include "workload/stack_args.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit {
namespace {

AnyArgs copy_of(Op op, const void* args) {
  switch (op) {
#define HSTUJIT_COPY(op, args_type, function) \
  case Op::op:                                \
    return *static_cast<const args_type*>(args);
    HSTUJIT_OPERATOR_MAP(HSTUJIT_COPY)
#undef HSTUJIT_COPY
  }
  return {};
}

/// Where made-up addresses are of.
Place place_of(const void* data, const Calls& calls, const std::vector<void*>& bases) {
  const auto behind = std::upper_bound(bases.begin(), bases.end(), data);
  const auto buffer = static_cast<size_t>(behind - bases.begin()) - 1;
  const auto bytes = static_cast<const std::byte*>(data) - static_cast<const std::byte*>(bases[buffer]);
  return {static_cast<int>(buffer), bytes / size_of(calls.buffers[buffer].dtype)};
}

Call call_of(const chain::Step& step, const Calls& calls, const std::vector<void*>& bases) {
  Call call;
  call.op = step.problem.op;
  call.name = step.name;
  call.args = copy_of(call.op, step.args);
  for (const TensorSlot& slot : operator_of(call.op).tensors) {
    hstu_tensor& t = tensor_at(address(call.args), slot);
    call.places.push_back(t.data ? place_of(t.data, calls, bases) : Place{});
    t.data = nullptr;
  }
  return call;
}

bool has(const Calls& calls, std::initializer_list<Op> any) {
  return std::ranges::any_of(calls.calls, [&](const Call& call) { return std::ranges::count(any, call.op) > 0; });
}

Calls steps_of_stack(const Workload& workload, const chain::Fusing& fusing) {
  Calls calls;
  const StackArgs args(workload, calls);
  const std::vector<void*> bases = made_up_addresses(calls.buffers);
  for (int64_t i = 0; i < workload.stack->layers; ++i) {
    hstu_stack_args layer = args.layer(i);
    chain::visit(layer, fusing,
                 [&](int64_t, const chain::Step& step) { calls.calls.push_back(call_of(step, calls, bases)); });
  }
  calls.fused = {has(calls, {Op::norm_addmm}), has(calls, {Op::gated_addmm, Op::gated_fp8_gemm})};
  calls.name = fmt::format("{} stack{}{}", workload.name, calls.fused.uvqk ? ", norms and projections fused" : "",
                           calls.fused.output ? ", output stages fused" : "");
  return calls;
}

}  // namespace

const char* layer_input(int64_t index) { return index == 0 ? "x" : index % 2 == 1 ? "even" : "odd"; }

Calls expand_stack(const Workload& workload, chain::FusedStages fused) {
  return steps_of_stack(workload, chain::Fusing(fused));
}

chain::FusedStages can_be_fused(const Workload& workload) {
  return expand_stack(workload, {.uvqk = true, .output = true}).fused;
}

bool made_on(const DeviceFacts& device, const Calls& calls) {
  if (!calls.fused.any()) return !calls.calls[0].figure || is_covered(problem_of(calls.calls[0], calls), device);
  const auto attention = std::ranges::find(calls.calls, Op::attention, &Call::op);
  const auto problem = [&](const auto& call) { return problem_of(*call, calls); };
  return (!calls.fused.uvqk || chain::takes_fused(device, problem(attention - 1))) &&
         (!calls.fused.output || chain::takes_fused(device, problem(attention), problem(attention + 1)));
}

Calls stack_on(const DeviceFacts& device, const Workload& workload) {
  return steps_of_stack(workload, chain::Fusing(device));
}

}  // namespace hstujit
