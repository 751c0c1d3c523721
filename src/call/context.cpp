#include "call/context.hpp"

#include "cuda/tensor_map.hpp"
#include "operators/f64.hpp"
#include "records/choose.hpp"
#include "support/embedded_text.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/log.hpp"
#include "support/output.hpp"
#include "support/ranges.hpp"
#include "support/trust.hpp"

namespace hstujit {
namespace {

std::string absolute_or_as_it_is(const std::string& path) { return absolute_path(path).value_or(path); }

/// A mere name is looked for where the system keeps its libraries.
std::string library_path(const std::string& path) {
  return path.find('/') == std::string::npos ? path : absolute_or_as_it_is(path);
}

JitOptions jit_options(const ContextOptions& options, const Environment& environment,
                       const std::shared_ptr<const Pack>& pack) {
  return {options.store_path, pack ? "" : options.system_store_path, absolute_or_as_it_is(environment.kernels),
          library_path(environment.libnvrtc), pack};
}

bool is_empty(const hstu_tensor& t) {
  for (int d = 0; d < t.rank; ++d)
    if (t.shape[d] == 0) return true;
  return false;
}

/// True when the call has nothing to write, so no kernel is needed for it.
bool writes_nothing(const Operator& op, const void* args) {
  for (const TensorSlot& slot : op.tensors) {
    const hstu_tensor& t = tensor_at(args, slot);
    if (slot.role == TensorRole::output && present(t) && !is_empty(t)) return false;
  }
  return true;
}

}  // namespace

ContextOptions with_absolute_paths(ContextOptions options) {
  for (std::string* path : {&options.store_path, &options.system_store_path}) {
    std::optional<std::string> absolute = absolute_path(*path);
    if (!absolute) log().warn("store {} is left out: it is relative to the current folder, which was removed", *path);
    *path = std::move(absolute).value_or("");
  }
  return options;
}

void leave_out_doubtful_paths(ContextOptions& options, bool store_by_default, bool strict) {
  options.store_path = trusted(options.store_path, store_by_default ? Named::by_default : Named::by_host, strict);
  options.system_store_path = trusted(options.system_store_path, Named::by_host, strict);
}

RecordsOptions records_options(const std::string& store_path, const std::string& system_store_path, const Pack* pack) {
  RecordsOptions options{store_path, pack ? "" : system_store_path};
  if (pack) options.seeds.push_back(pack->records());
  for (const EmbeddedFile& file : embedded_records()) options.shipped.push_back(file.text);
  return options;
}

Context::Context(ContextOptions options, const Environment& environment)
    : options_(with_absolute_paths(std::move(options))),
      pack_(open_pack(options_.system_store_path)),
      jit_(jit_options(options_, environment, pack_)),
      records_(records_options(options_.store_path, options_.system_store_path, pack_.get())) {
  Range::look_for_tool();
  if (options_.device == "cpu") {
    kind_ = Kind::cpu;
    facts_.name = "cpu";
  } else if (const auto gpu = parse_gpu_name(options_.device)) {
    kind_ = Kind::gpu;
    const Driver& opened = hstujit::driver();
    primary_context_.emplace(opened, gpu->ordinal);
    facts_ = device_facts(opened, gpu->ordinal);
    if (!gpu->generation.empty()) facts_ = limited_to(facts_, gpu->generation);
    driver_ = &opened;
    const CurrentContext current(opened, device_context());
    tile_counters_.emplace(opened);
  } else if (const auto facts = facts_of_target(options_.device)) {
    kind_ = Kind::compile_only;
    facts_ = *facts;
  } else {
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "device = \"{}\": use \"cuda\", \"cuda:N\", either with \"@sm_80\" or the like for older kernels, \"cpu\", or "
         "\"sm_80\", \"sm_86\", \"sm_89\", \"sm_90a\" to compile only",
         options_.device);
  }
  planner_ = std::make_unique<Planner>(Planner::Rooms{facts_, driver_, device_context(), jit_, records_, plans_},
                                       options_.miss_policy, options_.tune_budget_ms);
}

void Context::run(const Problem& problem, const void* args, CUstream stream) {
  if (Traffic* traffic = recording_.load(std::memory_order_acquire)) [[unlikely]]
    traffic->count(problem, args);
  if (const Plan* known = plans_.find(problem)) return launch(*known, args, stream);  // warm: nothing below runs
  const Operator& op = operator_of(problem.op);
  if (writes_nothing(op, args)) return;
  if (kind_ == Kind::cpu) return op.reference(args, nullptr);
  launch(planner_->plan_for(problem, args, stream), args, stream);
}

const Plan* Context::make_ready(const Problem& problem, const void* args, CUstream stream) {
  if (const Plan* known = plans_.find(problem)) return known;
  if (kind_ == Kind::cpu || writes_nothing(operator_of(problem.op), args)) return nullptr;
  return &planner_->plan_for(problem, args, stream);
}

void Context::check_takes(const Problem& problem, const void* args) const {
  if (kind_ == Kind::cpu || writes_nothing(operator_of(problem.op), args)) return;
  refuse_f64(problem, args);
  standard_choice(problem, facts_);
}

void Context::bind(const Plan& plan, const void* args, Launch& launch) const {
  const auto fill = [&] {
    hstujit::bind(*plan.choice.family, args, plan.problem, plan.choice.config, facts_, tile_counters_->address(),
                  launch);
  };
  try {
    fill();
  } catch (const NoCurrentContext&) {  // a tensor map needs one, and this thread never made any current
    const CurrentContext current(*driver_, device_context());
    fill();
  }
}

void Context::launch(const Plan& plan, const Launch& launch, CUstream stream) const {
  if (kind_ == Kind::compile_only || launch.grid[0] == 0) return;
  const CUresult result = plan.kernel->launch(launch, stream);
  if (result != CUDA_SUCCESS) [[unlikely]]
    launch_failed(plan, launch, stream, result);
}

void Context::launch_failed(const Plan& plan, const Launch& launch, CUstream stream, CUresult result) const {
  if (result == CUDA_ERROR_INVALID_CONTEXT) {  // a thread that never made a context current
    const CurrentContext current(*driver_, device_context());
    result = plan.kernel->launch(launch, stream);
  }
  if (result != CUDA_SUCCESS) driver_->check(result, fmt::format("launching {}", plan.compiled->name).c_str());
}

void Context::launch(const Plan& plan, const void* args, CUstream stream) {
  if (kind_ == Kind::compile_only) return;
  Launch filled;
  bind(plan, args, filled);
  try {
    launch(plan, filled, stream);
  } catch (const Error& error) {
    if (!launch_default(plan, error, args, stream)) throw;
  }
}

bool Context::launch_default(const Plan& plan, const Error& error, const void* args, CUstream stream) {
  if (error.status() != HSTU_ERROR_DEVICE) return false;
  auto other = planner_->default_instead_of(plan);
  if (!other) return false;
  try {
    Launch filled;
    bind(*other, args, filled);
    launch(*other, filled, stream);
  } catch (const Error&) { return false; }  // a stream that is none, a device that is gone: not the record's fault
  planner_->replace_unusable(plan, error, std::move(other));
  return true;
}

void Context::record_traffic(bool on) {
  const std::lock_guard lock(starting_);
  if (on && !traffic_) traffic_ = std::make_unique<Traffic>();
  recording_.store(on ? traffic_.get() : nullptr, std::memory_order_release);
  plans_.renew();  // calls that know their plan look at nothing else
}

void Context::write_traffic(const char* path, int64_t* left_out) const {
  const std::lock_guard lock(starting_);
  const auto shapes = traffic_ ? traffic_->shapes() : std::vector<Traffic::Shape>{};
  if (shapes.empty())
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "no traffic was recorded: call hstu_context_record_traffic and then some operators");
  const std::string text = workload_text(shapes, left_out);
  if (const int error = write_output(path, text))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", path, std::strerror(error));
}

hstu_counters Context::counters() const {
  const JitCounters jit = jit_.counters();
  hstu_counters out{};
  out.struct_size = sizeof out;
  out.plans = static_cast<int64_t>(plans_.size());
  out.compiles = jit.compiles;
  out.store_hits = jit.store_hits;
  const PlannerCounters plans = planner_->counters();
  out.tunes = plans.tunes;
  out.tuned_plans = plans.tuned;
  out.nearest_plans = plans.nearest;
  out.default_plans = plans.standard;
  out.stand_ins = plans.stand_ins;
  out.background_plans = plans.arrived;
  out.failed_preparations = plans.failed;
  out.not_ready = plans.refused;
  out.loads = plans.loads;
  out.load_ns = plans.load_ns;
  out.damaged = jit.damaged;
  out.evictions = jit.evictions;
  out.compile_ns = jit.compile_ns;
  out.store_ns = jit.store_ns;
  out.unusable_records = plans.unusable;
  return out;
}

}  // namespace hstujit
