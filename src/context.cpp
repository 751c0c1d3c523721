#include "context.hpp"

#include "cuda/tensor_map.hpp"
#include "specialise/source.hpp"
#include "support/error.hpp"
#include "tuner/tune_call.hpp"

#include <charconv>

namespace hstujit {
namespace {

/// Device ordinal of "cuda" or "cuda:N"; nothing for other texts.
std::optional<int> gpu_ordinal(std::string_view device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return std::nullopt;
  const std::string_view digits = device.substr(5);
  int ordinal = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (status != std::errc() || end != digits.data() + digits.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

JitOptions jit_options(const ContextOptions& options, const Environment& environment) {
  return {options.store_path, options.system_store_path, environment.kernels, environment.libnvrtc};
}

RecordsOptions records_options(const ContextOptions& options) {
  return {options.store_path, options.system_store_path};
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

Context::Context(ContextOptions options, const Environment& environment)
    : options_(std::move(options)),
      jit_(jit_options(options_, environment)),
      records_(records_options(options_)),
      miss_policy_(options_.miss_policy) {
  if (options_.device == "cpu") {
    kind_ = Kind::cpu;
    facts_.name = "cpu";
  } else if (const auto ordinal = gpu_ordinal(options_.device)) {
    kind_ = Kind::gpu;
    const Driver& opened = hstujit::driver();
    opened.check(opened.cuDeviceGet(&device_, *ordinal), fmt::format("opening device {}", options_.device).c_str());
    opened.check(opened.cuDevicePrimaryCtxRetain(&device_context_, device_), "retaining the device's primary context");
    facts_ = device_facts(opened, *ordinal);
    driver_ = &opened;
  } else if (const auto facts = facts_of_target(options_.device)) {
    kind_ = Kind::compile_only;
    facts_ = *facts;
  } else {
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "device = \"{}\": use \"cuda\", \"cuda:N\", \"cpu\", or \"sm_80\", \"sm_86\", \"sm_89\", \"sm_90a\" to "
         "compile only",
         options_.device);
  }
}

Context::~Context() {
  if (driver_) driver_->cuDevicePrimaryCtxRelease(device_);
}

void Context::run(const Problem& problem, const void* args, CUstream stream) {
  if (const Plan* known = plans_.find(problem)) return launch(*known, args, stream);  // warm: nothing below runs
  const Operator& op = operator_of(problem.op);
  if (writes_nothing(op, args)) return;
  if (kind_ == Kind::cpu) return op.reference(args, nullptr);
  launch(plan_for(problem, args, stream), args, stream);
}

void Context::make_ready(const Problem& problem, const void* args, CUstream stream) {
  if (plans_.find(problem) || kind_ == Kind::cpu || writes_nothing(operator_of(problem.op), args)) return;
  plan_for(problem, args, stream);
}

void Context::launch(const Plan& plan, const void* args, CUstream stream) const {
  if (kind_ == Kind::compile_only) return;
  CUresult result = CUDA_ERROR_INVALID_CONTEXT;
  try {
    result = try_launch(plan, args, stream);
  } catch (const NoCurrentContext&) {}         // a tensor map needs one, too
  if (result == CUDA_ERROR_INVALID_CONTEXT) {  // a thread that never made a context current
    const CurrentContext current(*driver_, device_context_);
    result = try_launch(plan, args, stream);
  }
  if (result != CUDA_SUCCESS) driver_->check(result, fmt::format("launching {}", plan.compiled->name).c_str());
}

CUresult Context::try_launch(const Plan& plan, const void* args, CUstream stream) const {
  Launch launch;
  plan.choice.family->bind(args, plan.problem, plan.choice.config, facts_, launch);
  return launch.grid[0] == 0 ? CUDA_SUCCESS : plan.kernel->launch(launch, stream);
}

const Plan& Context::plan_for(const Problem& problem, const void* args, CUstream stream) {
  if (const Plan* known = plans_.find(problem)) return *known;
  refuse_while_capturing(stream);
  if (kind_ == Kind::gpu && miss_policy_.load(std::memory_order_relaxed) == HSTU_MISS_TUNE) {
    const CurrentContext current(*driver_, device_context_);  // tuning reads offsets that the stream may still write
    driver_->check(driver_->cuStreamSynchronize(stream), "waiting for the stream before tuning");
  }
  return plan_once(problem, args);
}

/// Threads that miss on one problem at the same time wait for the first of them.
const Plan& Context::plan_once(const Problem& problem, const void* args) {
  std::promise<const Plan*> promise;
  std::shared_future<const Plan*> others;
  {
    const std::lock_guard lock(making_);
    if (const Plan* known = plans_.find(problem)) return *known;
    const auto [entry, first] = under_way_.try_emplace(problem);
    if (first)
      entry->second = promise.get_future().share();
    else
      others = entry->second;
  }
  if (others.valid()) return *others.get();

  const auto finish = [&] {
    const std::lock_guard lock(making_);
    under_way_.erase(problem);
  };
  try {
    const Plan& plan = plans_.insert(make_plan(problem, args));
    count(plan.choice);
    promise.set_value(&plan);
    finish();
    return plan;
  } catch (...) {
    promise.set_exception(std::current_exception());
    finish();
    throw;
  }
}

std::unique_ptr<Plan> Context::make_plan(const Problem& problem, const void* args) {
  const hstu_miss_policy policy = miss_policy_.load(std::memory_order_relaxed);
  auto plan = std::make_unique<Plan>();
  plan->problem = problem;
  plan->choice = choose_for(problem, args, policy);
  plan->compiled = kernel_of(plan->choice, problem, policy);
  if (kind_ == Kind::gpu) {
    const CurrentContext current(*driver_, device_context_);
    const Resources resources = plan->choice.family->resources(problem, plan->choice.config);
    plan->kernel = std::make_unique<LoadedKernel>(*driver_, *plan->compiled, resources.smem_bytes);
  }
  return plan;
}

Choice Context::choose_for(const Problem& problem, const void* args, hstu_miss_policy policy) {
  const Choice choice = choose(records_, problem, facts_, policy == HSTU_MISS_NEAREST);
  if (policy != HSTU_MISS_TUNE || choice.from == Choice::From::record || kind_ != Kind::gpu) return choice;
  const CurrentContext current(*driver_, device_context_);
  tune_call(*driver_, facts_, jit_, records_, problem, args, options_.tune_budget_ms);
  tunes_.fetch_add(1, std::memory_order_relaxed);
  return choose(records_, problem, facts_, false);
}

std::shared_ptr<const CompiledKernel> Context::kernel_of(const Choice& choice, const Problem& problem,
                                                         hstu_miss_policy policy) {
  const Source source = specialise(*choice.family, problem, choice.config, facts_);
  if (policy != HSTU_MISS_FAIL) return jit_.obtain(source);
  if (auto stored = jit_.find(source)) return stored;
  fail(HSTU_ERROR_NOT_READY,
       "{}: not in the store, and the miss policy forbids compiling; warm it first, e.g. hstu-tune warm", source.name);
}

void Context::refuse_while_capturing(CUstream stream) const {
  if (kind_ != Kind::gpu) return;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver_->cuStreamIsCapturing(stream, &status);
  // The legacy stream cannot be asked while another stream captures in global mode: that is a capture, too.
  if (result != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
    if (result == CUDA_ERROR_INVALID_CONTEXT) return;  // no context in this thread, so nothing it could be capturing
    driver_->check(result, "asking whether the stream is being captured");
    if (status == CU_STREAM_CAPTURE_STATUS_NONE) return;
  }
  fail(HSTU_ERROR_STREAM_CAPTURING,
       "this problem has no loaded kernel yet and the stream is being captured; run the call once before the capture");
}

void Context::count(const Choice& choice) {
  auto& counter = choice.from == Choice::From::record    ? tuned_plans_
                  : choice.from == Choice::From::nearest ? nearest_plans_
                                                         : default_plans_;
  counter.fetch_add(1, std::memory_order_relaxed);
}

hstu_counters Context::counters() const {
  const JitCounters jit = jit_.counters();
  hstu_counters out{};
  out.struct_size = sizeof out;
  out.plans = static_cast<int64_t>(plans_.size());
  out.compiles = jit.compiles;
  out.store_hits = jit.store_hits;
  out.tunes = tunes_.load(std::memory_order_relaxed);
  out.tuned_plans = tuned_plans_.load(std::memory_order_relaxed);
  out.nearest_plans = nearest_plans_.load(std::memory_order_relaxed);
  out.default_plans = default_plans_.load(std::memory_order_relaxed);
  return out;
}

}  // namespace hstujit
