// The border: one short function per entry point. Exceptions end here, in one guard; nothing clever.
#include "call/counters.hpp"
#include "call/fixed_call.hpp"
#include "call/recent_calls.hpp"
#include "capi/describe.hpp"
#include "capi/handle.hpp"
#include "capi/versions.hpp"
#include "chain/chains.hpp"
#include "chain/fixed_chain.hpp"
#include "support/error.hpp"
#include "support/failure.hpp"
#include "support/forks.hpp"
#include "support/log.hpp"
#include "support/ranges.hpp"
#include "support/shown.hpp"
#include "support/thread_end.hpp"

#include <hstujit/hstujit.h>

#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>

/// A plan of the host's, in the context that it was made of. That handle outlives it: handles are never freed.
struct hstu_plan {
  hstu_plan(hstu_context& its_context, const hstujit::Layout& its_layout) : context(its_context), layout(its_layout) {}

  void launch(hstujit::Context& visited, const void* args, hstu_stream stream) const {
    if (call) [[likely]]
      return call->launch(visited, args, stream);
    chain->launch(visited, args, stream);
  }

  hstu_context& context;
  const hstujit::Layout layout;                     ///< of args
  std::optional<hstujit::FixedCall> call;           ///< of an operator
  std::optional<hstujit::chain::FixedChain> chain;  ///< or of a chain
};

namespace {

using namespace hstujit;

/// What this thread's last failure said: text of its own, or a constant.
constinit thread_local const char* last_error = "";
struct LastErrorText {
  std::string text;
  ~LastErrorText() { last_error = ""; }
};

const char* meaning_of(hstu_status status) {
  switch (status) {
#define HSTU_MEANING_OF_STATUS(symbol, value, text) \
  case symbol:                                      \
    return text;
    HSTU_STATUS_MAP(HSTU_MEANING_OF_STATUS)
#undef HSTU_MEANING_OF_STATUS
  }
  return "";
}

hstu_status failed(hstu_status status, const char* text) noexcept {
  try {
    if (text == kNoMemory) return last_error = text, status;
    // Hosts print it, and files of others are quoted in it.
    last_error = (OfThread<LastErrorText>::get().text = escaped(text, Lines::many)).c_str();
  } catch (const std::exception&) { last_error = meaning_of(status); }  // no memory for the message
  return status;
}

template <class Body>
hstu_status guard(Body&& body) noexcept {
  try {
    body();
    return HSTU_OK;
  } catch (...) { return explain_exception(failed); }
}

// Apart from what they refuse, so that a warm call has no part in it.
[[noreturn, gnu::noinline]] void refuse_null(const char* name) {
  fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = NULL: it must point to an object", name);
}

template <class T>
T& deref(T* pointer, const char* name) {
  if (!pointer) refuse_null(name);
  return *pointer;
}

/// A host's struct as it stands, or where it is of an earlier version a copy of today's layout in `room`.
template <class Struct>
const Struct& of_today(const Struct* given, std::optional<Struct>& room, const char* name) {
  if (size_given(&deref(given, name)) == sizeof(Struct)) [[likely]]
    return *given;
  update(layout_of<Struct>(), given, &room.emplace(), name);
  return *room;
}

/// Where a thread looks for a call among those that it made before.
struct Seen {
  uint64_t generation, mark;  ///< of the plans; of the call
  RecentCall* recent;         ///< null while it made none on a GPU
};

/// Does of a call what this thread did not do before.
template <class Args>
void call_on_gpu(Context& context, const Args& args, CUstream stream, const Seen& seen) {
  constexpr Op kOp = op_of<Args>();
  const auto [generation, mark, place] = seen;
  RecentCall& recent = place ? *place : RecentCall::place(mark);
  const uint64_t problem_mark = RecentProblem::mark_of(kOp, &args, sizeof args);
  RecentProblem& known = RecentProblem::place(problem_mark);
  if (const Launch* moved = known.launch_of(generation, kOp, &args)) {
    if (recent.came_before(mark)) recent.keep(generation, kOp, known.plan(), &args, sizeof args, *moved, stream);
    return context.launch(known.plan(), *moved, stream);
  }

  Args prepared = args;
  const Problem problem = prepare(prepared);
  const Plan* plan = context.find(problem);
  if (!plan) return context.run(problem, &prepared, stream);
  Launch launch;
  context.bind(*plan, &prepared, launch);
  if (recent.came_before(mark)) recent.keep(generation, kOp, *plan, &args, sizeof args, launch, stream);
  if (known.wants(generation, problem_mark))
    known.keep(generation, problem_mark, kOp, *plan, &args, launch,
               [&](const void* there, Launch& bound) { context.bind(*plan, there, bound); });
  try {
    context.launch(*plan, launch, stream);
  } catch (const Error& error) {
    if (!context.launch_default(*plan, error, &prepared, stream)) throw;
  }
}

/// Apart from call(), whose frame would be as large as the arguments and parameters are.
template <class Args>
[[gnu::noinline]] void call_anew(Context& context, const Args& args, CUstream stream, const Seen& seen) {
  if (context.on_gpu() && !context.records_traffic()) return call_on_gpu(context, args, stream, seen);
  Args prepared = args;
  const Problem problem = prepare(prepared);
  context.run(problem, &prepared, stream);
}

template <class Args>
[[gnu::always_inline]] inline void call_of_today(Context& context, const Args& args, CUstream stream) {
  constexpr Op kOp = op_of<Args>();
  const Range range([] { return operator_of(op_of<Args>()).name; });
  const uint64_t mark = RecentCall::mark_of(kOp, &args, sizeof args);
  const Seen seen{context.plan_generation(), mark, RecentCall::known_place(mark)};
  if (seen.recent && seen.recent->is(seen.generation, kOp, &args, sizeof args))
    return seen.recent->run(context, stream);
  call_anew(context, args, stream, seen);
}

template <class Args>
[[gnu::noinline, gnu::cold]] void call_of_earlier_version(Context& context, const void* args, CUstream stream) {
  Args today;
  update(layout_of<Args>(), args, &today, "args");
  call_of_today(context, today, stream);
}

template <class Args>
hstu_status call(hstu_context* context, const Args* args, hstu_stream stream) {
  return guard([&] {
    const Visit target(deref(context, "context"));
    if (size_given(&deref(args, "args")) != sizeof(Args)) [[unlikely]]
      return call_of_earlier_version<Args>(*target, args, stream);
    call_of_today(*target, *args, stream);
  });
}

const Operator& operator_called(const char* name) {
  const auto op = op_named(name);
  if (!op)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "op = \"{}\": there is no such operator; hstu_operator_name lists them", name);
  return operator_of(*op);
}

/// An operator or a chain that a host calls by its name, and the arguments in today's layout.
struct Asked {
  const chain::Chain* chain;  ///< null: it is an operator
  const Operator* op;         ///< null: it is a chain
  const Layout& layout;
  const void* args;
};
/// room: for arguments of an earlier version.
Asked asked_for(const char* name, const void* args, StructBytes& room) {
  const chain::Chain* const chain = chain::chain_named(&deref(name, "op"));
  const Operator* const op = chain ? nullptr : &operator_called(name);
  if (!args) refuse_null("args");
  const Layout& layout = chain ? layout_of(*chain) : layout_of(op->op);
  if (size_given(args) == layout.size) return {chain, op, layout, args};
  update(layout, args, room.data(), "args");
  return {chain, op, layout, room.data()};
}

/// args: of today's layout, as a host wrote them.
void check_takes(const Context& context, const Operator& op, const void* args) {
  ArgsBytes prepared;
  std::memcpy(prepared.data(), args, op.args_size);
  const Problem problem = op.prepare(prepared.data());
  context.check_takes(problem, prepared.data());
}

/// given: what a C host wrote there may be no enumerator, which C++ must not load as one.
hstu_miss_policy checked(const hstu_miss_policy& given) {
  int policy;
  static_assert(sizeof policy == sizeof given);
  std::memcpy(&policy, &given, sizeof policy);
  if (policy < HSTU_MISS_DEFAULT || policy > HSTU_MISS_ASYNC)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "miss_policy = {}: use one of hstu_miss_policy, 0 to 4", policy);
  return static_cast<hstu_miss_policy>(policy);
}

/// A chain of operators; Args as the matching function of chains.hpp takes it.
template <class Args>
hstu_status call_chain(hstu_context* context, const Args* args, hstu_stream stream) {
  return guard([&] {
    const Visit target(deref(context, "context"));
    std::optional<Args> room;
    Args own = of_today(args, room, "args");
    chain::run(*target, own, stream);
  });
}

template <class Args>
hstu_status workspace_size(const Args* args, size_t* bytes) {
  return guard([&] {
    deref(bytes, "bytes") = 0;
    std::optional<Args> room;
    *bytes = chain::workspace_size(of_today(args, room, "args"));
  });
}

/// Of one operator. The same on all devices, but that is the library's to know.
template <class Args>
hstu_status workspace_size_on(hstu_context* context, const Args* args, size_t* bytes) {
  return guard([&] {
    deref(bytes, "bytes") = 0;
    const Visit target(deref(context, "context"));
    std::optional<Args> room;
    *bytes = operator_of(op_of<Args>()).workspace->bytes(&of_today(args, room, "args"));
  });
}

/// Apart from a launch, whose frame would be as large as the arguments are.
[[gnu::noinline, gnu::cold]] void launch_of_earlier_version(const hstu_plan& plan, Context& context, const void* args,
                                                            CUstream stream) {
  StructBytes today;
  update(plan.layout, args, today.data(), "args");
  plan.launch(context, today.data(), stream);
}

ContextOptions resolve(const hstu_context_options* asked, const Environment& environment) {
  ContextOptions options;
  options.store_path = environment.store;
  options.system_store_path = environment.system_store;
  if (!asked) return leave_out_doubtful_paths(options, environment.store_by_default, false), options;
  std::optional<hstu_context_options> room;
  const hstu_context_options* const given = &of_today(asked, room, "options");
  if (given->device) options.device = given->device;
  options.miss_policy = checked(given->miss_policy);
  if (given->store_path) options.store_path = given->store_path;
  if (given->system_store_path) options.system_store_path = given->system_store_path;
  if (given->tune_budget_ms < 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "options.tune_budget_ms = {}: it must not be negative; 0 means 30000",
         given->tune_budget_ms);
  if (given->tune_budget_ms > 0) options.tune_budget_ms = given->tune_budget_ms;
  leave_out_doubtful_paths(options, !given->store_path && environment.store_by_default, given->strict_store != 0);
  return options;
}

}  // namespace

extern "C" {

const char* hstu_status_name(hstu_status status) {
  switch (status) {
#define HSTU_NAME_STATUS(symbol, value, text) \
  case symbol:                                \
    return #symbol;
    HSTU_STATUS_MAP(HSTU_NAME_STATUS)
#undef HSTU_NAME_STATUS
  }
  return "HSTU_STATUS_UNKNOWN";
}

const char* hstu_last_error(void) { return last_error; }

#define HSTU_TEXT2(x) #x
#define HSTU_TEXT(x) HSTU_TEXT2(x)
const char* hstu_version(void) {
  return HSTU_TEXT(HSTU_VERSION_MAJOR) "." HSTU_TEXT(HSTU_VERSION_MINOR) "." HSTU_TEXT(HSTU_VERSION_PATCH);
}

hstu_status hstu_context_create(hstu_context** out, const hstu_context_options* options) {
  return guard([&] {
    deref(out, "out") = nullptr;
    watch_forks();
    // The first context opens the driver and makes static objects: the child would find all of it half made.
    const NoForkMeanwhile whole;
    const Environment environment = Environment::read();
    set_log_level(environment.log_level);
    *out = hstu_context::create(resolve(options, environment), environment);
  });
}

void hstu_context_destroy(hstu_context* context) {
  if (context) context->destroy();
}

hstu_status hstu_context_set_miss_policy(hstu_context* context, hstu_miss_policy policy) {
  return guard([&] { Visit(deref(context, "context"))->planner().set_policy(checked(policy)); });
}

hstu_status hstu_context_finish(hstu_context* context) {
  return guard([&] { Visit(deref(context, "context"))->planner().finish(); });
}

hstu_status hstu_context_freeze(hstu_context* context) {
  return guard([&] { Visit(deref(context, "context"))->planner().freeze(); });
}

#define HSTUJIT_ENTRY_POINT(op, args_type, function)                                       \
  hstu_status function(hstu_context* context, const args_type* args, hstu_stream stream) { \
    return call(context, args, stream);                                                    \
  }
HSTUJIT_OPERATOR_MAP(HSTUJIT_ENTRY_POINT)
#undef HSTUJIT_ENTRY_POINT

hstu_status hstu_quantize_fp8_dynamic(hstu_context* context, const hstu_quantize_fp8_args* args, hstu_stream stream) {
  std::optional<hstu_quantize_fp8_args> room;
  const hstu_status known = guard([&] { args = &of_today(args, room, "args"); });
  if (known != HSTU_OK) return known;
  const hstu_fp8_amax_args amax{sizeof amax, args->x, args->amax};
  const hstu_status status = hstu_fp8_amax(context, &amax, stream);
  return status == HSTU_OK ? hstu_quantize_fp8(context, args, stream) : status;
}

hstu_status hstu_attention_backward_workspace_size(hstu_context* context, const hstu_attention_backward_args* args,
                                                   size_t* bytes) {
  return workspace_size_on(context, args, bytes);
}

hstu_status hstu_layer_norm_backward_workspace_size(hstu_context* context, const hstu_layer_norm_backward_args* args,
                                                    size_t* bytes) {
  return workspace_size_on(context, args, bytes);
}

#define HSTUJIT_CHAIN(name, args_type, function)                                           \
  hstu_status function(hstu_context* context, const args_type* args, hstu_stream stream) { \
    return call_chain(context, args, stream);                                              \
  }                                                                                        \
  hstu_status function##_workspace_size(const args_type* args, size_t* bytes) { return workspace_size(args, bytes); }
HSTUJIT_CHAIN_MAP(HSTUJIT_CHAIN)
#undef HSTUJIT_CHAIN

hstu_status hstu_layer(hstu_context* context, const hstu_stack_args* args, hstu_stream stream) {
  return guard([&] {
    const Visit target(deref(context, "context"));
    std::optional<hstu_stack_args> room;
    hstu_stack_args own = of_today(args, room, "args");
    own.num_layers = 1;
    chain::run(*target, own, stream);
  });
}

hstu_status hstu_plan_get(hstu_plan** out, hstu_context* context, const char* op, const void* args,
                          hstu_stream stream) {
  return guard([&] {
    deref(out, "out") = nullptr;
    const Visit target(deref(context, "context"));
    StructBytes room;
    const Asked asked = asked_for(op, args, room);
    auto plan = std::make_unique<hstu_plan>(*context, asked.layout);
    if (asked.chain)
      plan->chain.emplace(*target, *asked.chain, asked.args, stream);
    else
      plan->call.emplace(*target, *asked.op, asked.args, stream);
    *out = plan.release();
  });
}

hstu_status hstu_plan_launch(hstu_plan* plan, const void* args, hstu_stream stream) {
  return guard([&] {
    const Visit target(deref(plan, "plan").context);
    if (args && size_given(args) != plan->layout.size) [[unlikely]]
      return launch_of_earlier_version(*plan, *target, args, stream);
    plan->launch(*target, args, stream);
  });
}

void hstu_plan_release(hstu_plan* plan) { delete plan; }

hstu_status hstu_context_takes(hstu_context* context, const char* op, const void* args) {
  return guard([&] {
    const Visit target(deref(context, "context"));
    StructBytes room;
    const Asked asked = asked_for(op, args, room);
    if (asked.chain) return asked.chain->check_takes(*target, asked.args);
    check_takes(*target, *asked.op, asked.args);
  });
}

int32_t hstu_operator_count(void) { return static_cast<int32_t>(operators().size()); }

const char* hstu_operator_name(int32_t index) {
  if (index < 0 || index >= hstu_operator_count()) return nullptr;
  return operators()[static_cast<size_t>(index)].name.data();
}

hstu_status hstu_operator_describe(const hstu_operator_description** out, const char* op) {
  return guard([&] {
    deref(out, "out") = nullptr;
    *out = &description_of(operator_called(&deref(op, "op")));
  });
}

hstu_status hstu_context_counters(const hstu_context* context, hstu_counters* out) {
  return guard([&] {
    const Visit source(const_cast<hstu_context&>(deref(context, "context")));  // visiting changes nothing of it
    const hstu_counters all = source->counters();
    answer(layout_of<hstu_counters>(), &all, &deref(out, "out"), "out");
  });
}

hstu_status hstu_context_metrics(const hstu_context* context, char* text, size_t size, size_t* needed) {
  return guard([&] {
    const Visit source(const_cast<hstu_context&>(deref(context, "context")));
    if (size > 0) deref(text, "text") = '\0';
    const std::string all = prometheus_text(source->counters(), source->facts().device_class());
    if (needed) *needed = all.size() + 1;
    if (size == 0 && needed) return;  // only asked how many
    if (size <= all.size())
      fail(HSTU_ERROR_INVALID_ARGUMENT, "size = {}: the text takes {} bytes, its terminating zero among them", size,
           all.size() + 1);
    std::memcpy(text, all.c_str(), all.size() + 1);
  });
}

hstu_status hstu_context_record_traffic(hstu_context* context, int32_t on) {
  return guard([&] { Visit(deref(context, "context"))->record_traffic(on != 0); });
}

hstu_status hstu_context_write_traffic(hstu_context* context, const char* path, int64_t* left_out) {
  return guard([&] {
    const Visit source(deref(context, "context"));
    int64_t left = 0;
    source->write_traffic(&deref(path, "path"), &left);
    if (left_out) *left_out = left;
  });
}

}  // extern "C"
