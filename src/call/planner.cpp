#include "call/planner.hpp"

#include "cuda/relaxed_capture.hpp"
#include "operators/f64.hpp"
#include "specialise/source.hpp"
#include "support/error.hpp"
#include "support/failure.hpp"
#include "support/log.hpp"
#include "support/ranges.hpp"
#include "support/shown.hpp"
#include "tuner/tune_call.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace hstujit {
namespace {

/// The background leaves half of the machine to those who serve.
int background_threads() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 8); }

bool is_of_a_record(const Choice& choice, const Choice& standard) {
  const bool recorded = choice.from == Choice::From::record || choice.from == Choice::From::nearest;
  return recorded && !(choice.family == standard.family && choice.config == standard.config);
}

/// The problem without its bucketed fields: what shapes code, the same for all traffic of one model.
Problem exact_part(Problem problem) {
  int index = 0;
  for (const FieldInfo& info : fields_of(problem.op)) {
    if (info.kind == FieldKind::bucket) problem[index] = 0;
    ++index;
  }
  return problem;
}

}  // namespace

Planner::Planner(Rooms rooms, hstu_miss_policy policy, int64_t tune_budget_ms)
    : rooms_(rooms), tune_budget_ms_(tune_budget_ms), policy_(policy), background_(background_threads()) {}

const Plan& Planner::plan_for(const Problem& problem, const void* args, CUstream stream) {
  if (const Plan* known = rooms_.plans.find(problem)) return *known;
  refuse_f64(problem, args);
  try {
    return missing_plan(problem, args, stream);
  } catch (const Error& error) {
    if (error.status() == HSTU_ERROR_NOT_READY || error.status() == HSTU_ERROR_STREAM_CAPTURING)
      refused_.fetch_add(1, std::memory_order_relaxed);
    throw;
  }
}

const Plan& Planner::missing_plan(const Problem& problem, const void* args, CUstream stream) {
  const hstu_miss_policy policy = policy_.load(std::memory_order_relaxed);
  if (policy == HSTU_MISS_ASYNC && rooms_.driver) return plan_at_once(problem, stream);
  refuse_while_capturing(stream);
  if (rooms_.driver && policy == HSTU_MISS_TUNE) {
    const CurrentContext current(*rooms_.driver, rooms_.device_context);
    // Tuning reads offsets that the stream may still write.
    rooms_.driver->check(rooms_.driver->cuStreamSynchronize(stream), "waiting for the stream before tuning");
  }
  return plan_once(problem, args);
}

// ---- While the caller waits

/// Threads that miss on one problem at the same time wait for the first of them.
const Plan& Planner::plan_once(const Problem& problem, const void* args) {
  std::promise<const Plan*> promise;
  const std::shared_future<const Plan*> own = promise.get_future().share();
  std::shared_future<const Plan*> others;
  {
    const std::lock_guard lock(making_);
    if (const Plan* known = rooms_.plans.find(problem)) return *known;
    refuse_when_frozen();
    const auto [entry, first] = under_way_.try_emplace(problem, own);
    if (!first) others = entry->second;
  }
  if (others.valid()) return *others.get();

  const auto finish = [&] {
    const std::lock_guard lock(making_);
    under_way_.erase(problem);
  };
  try {
    std::unique_ptr<Plan> made = make_plan(problem, args, policy_.load(std::memory_order_relaxed));
    remember(*made);
    const Plan& plan = rooms_.plans.insert(std::move(made));
    account_for(plan);
    promise.set_value(&plan);
    finish();
    return plan;
  } catch (...) {
    promise.set_exception(std::current_exception());
    finish();
    throw;
  }
}

std::unique_ptr<Plan> Planner::make_plan(const Problem& problem, const void* args, hstu_miss_policy policy) {
  const Range range([&] { return "plan " + text(problem); });
  const Choice choice = choose_for(problem, args, policy), standard = standard_choice(problem, rooms_.facts);
  if (!is_of_a_record(choice, standard)) return plan_of(problem, choice, policy);
  if (known_unusable(problem, choice)) return plan_of(problem, standard, policy);
  try {
    auto plan = plan_of(problem, choice, policy);
    refuse_unlaunchable(*plan);
    return plan;
  } catch (const Error& error) {
    // A record is anybody's; what it names may be nothing that the compiler or the driver takes. Where the default
    // fails as well, it was not the record's fault.
    if (error.status() != HSTU_ERROR_COMPILE && error.status() != HSTU_ERROR_DEVICE) throw;
    auto plan = plan_of(problem, standard, policy);
    note_unusable(problem, choice, error);
    return plan;
  }
}

std::unique_ptr<Plan> Planner::plan_of(const Problem& problem, const Choice& choice, hstu_miss_policy policy) {
  const Source source = specialise(*choice.family, problem, choice.config, rooms_.facts);
  const int smem_bytes = choice.family->resources(problem, choice.config).smem_bytes;
  ResidentKernel kernel = load(source, smem_bytes, policy);
  return std::make_unique<Plan>(Plan{problem, choice, std::move(kernel.compiled), std::move(kernel.loaded)});
}

// ---- Configurations of records that do not compile, load or launch

/// The commonest reason why a launch is refused, for those who launch many kernels at once.
void Planner::refuse_unlaunchable(const Plan& plan) const {
  if (!plan.kernel) return;
  const CurrentContext current(*rooms_.driver, rooms_.device_context);
  const int threads = plan.choice.family->resources(plan.problem, plan.choice.config).threads;
  int most = 0;
  rooms_.driver->check(
      rooms_.driver->cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, plan.kernel->function()),
      "asking how many threads a block may have");
  if (threads > most)
    fail(HSTU_ERROR_DEVICE, "{}: blocks of {} threads, its registers allow {}", plan.compiled->name, threads, most);
}

bool Planner::known_unusable(const Problem& problem, const Choice& choice) {
  {
    const std::lock_guard lock(making_);
    if (unusable_kernels_.empty()) return false;  // as nearly always: no unit is printed for nothing
  }
  const Digest key = rooms_.jit.key_of(specialise(*choice.family, problem, choice.config, rooms_.facts)).unit;
  const std::lock_guard lock(making_);
  const bool known = unusable_kernels_.contains(key);
  if (known) unusable_.fetch_add(1, std::memory_order_relaxed);
  return known;
}

/// Counted each time, told of once.
void Planner::note_unusable(const Problem& problem, const Choice& choice, const Error& reason) {
  constexpr size_t kMostOfReason = 600;  // a compiler says more
  const Digest key = rooms_.jit.key_of(specialise(*choice.family, problem, choice.config, rooms_.facts)).unit;
  unusable_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(making_);
  if (unusable_kernels_.insert(key).second)
    log().warn("{}: what a record names cannot be used, the default runs instead: {}: {}", text(problem), text(choice),
               shown(reason.message(), kMostOfReason));
}

std::unique_ptr<Plan> Planner::default_instead_of(const Plan& plan) {
  const Choice standard = standard_choice(plan.problem, rooms_.facts);
  if (!is_of_a_record(plan.choice, standard)) return nullptr;
  {
    const std::lock_guard lock(making_);
    if (frozen_) return nullptr;
  }
  try {
    return plan_of(plan.problem, standard, policy_.load(std::memory_order_relaxed));
  } catch (const Error&) { return nullptr; }  // why the launch failed says more
}

void Planner::replace_unusable(const Plan& plan, const Error& reason, std::unique_ptr<Plan> by) {
  note_unusable(plan.problem, plan.choice, reason);
  remember(*by);
  account_for(rooms_.plans.replace(std::move(by)));
}

Choice Planner::choose_for(const Problem& problem, const void* args, hstu_miss_policy policy) {
  const Choice choice = choose(rooms_.records, problem, rooms_.facts, policy == HSTU_MISS_NEAREST);
  if (policy != HSTU_MISS_TUNE || choice.from == Choice::From::record || !rooms_.driver) return choice;
  const CurrentContext current(*rooms_.driver, rooms_.device_context);
  tune_call(*rooms_.driver, rooms_.facts, rooms_.jit, rooms_.records, problem, args, tune_budget_ms_);
  tunes_.fetch_add(1, std::memory_order_relaxed);
  return choose(rooms_.records, problem, rooms_.facts, false);
}

ResidentKernel Planner::load(const Source& source, int smem_bytes, hstu_miss_policy policy) {
  const KernelKey key = rooms_.jit.key_of(source);
  if (!rooms_.driver) return {kernel_of(source, key, policy), nullptr};
  if (ResidentKernel known = loaded_.find(key.unit, smem_bytes)) return known;
  ResidentKernel fresh{kernel_of(source, key, policy), nullptr};
  const RelaxedCapture relaxed(*rooms_.driver);
  const CurrentContext current(*rooms_.driver, rooms_.device_context);
  const Range range([&] { return "load " + source.name; });
  const auto start = std::chrono::steady_clock::now();
  fresh.loaded = std::make_shared<const LoadedKernel>(*rooms_.driver, *fresh.compiled, smem_bytes);
  load_ns_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  ++loads_;
  return loaded_.keep(key.unit, smem_bytes, fresh);
}

std::shared_ptr<const CompiledKernel> Planner::kernel_of(const Source& source, const KernelKey& key,
                                                         hstu_miss_policy policy) {
  if (policy != HSTU_MISS_FAIL) return rooms_.jit.obtain(source, key);
  if (auto stored = rooms_.jit.find(key)) return stored;
  fail(HSTU_ERROR_NOT_READY,
       "{}: not in the store, and the miss policy forbids compiling; warm it first, e.g. hstu-tune warm", source.name);
}

// ---- While the caller does not wait: no compilation, no file, no call of the driver

const Plan& Planner::plan_at_once(const Problem& problem, CUstream stream) {
  std::unique_lock lock(making_);
  if (const Plan* known = rooms_.plans.find(problem)) return *known;
  refuse_when_frozen();
  throw_failure_of(problem);
  if (waits_in_vain(problem) && !capturing(stream)) {
    lock.unlock();
    return prepared_plan(problem);
  }
  std::unique_ptr<Plan> plan = plan_without_waiting(problem);
  if (!plan)
    fail(HSTU_ERROR_NOT_READY,
         "{}: its kernel is being prepared in the background and none that is loaded can stand in; call again, or "
         "call hstu_context_finish first",
         text(problem));
  const Plan* const ours = plan.get();
  const Plan& kept = rooms_.plans.insert(std::move(plan));
  if (&kept == ours) account_for(kept);  // else the background was faster
  return kept;
}

/// With the kernel of its choice if that is loaded, else with one that stands in until the background has it.
std::unique_ptr<Plan> Planner::plan_without_waiting(const Problem& problem) {
  if (auto plan = resident_plan(problem, choose(rooms_.records, problem, rooms_.facts, false))) return plan;
  prepare_in_background(problem);
  return stand_in(problem);
}

void Planner::throw_failure_of(const Problem& problem) {
  const auto known = preparing_.find(problem);
  if (known == preparing_.end() || !known->second.failure) return;
  const std::exception_ptr failure = std::move(known->second.failure);
  preparing_.erase(known);
  std::rethrow_exception(failure);
}

/// The plan of this choice if its kernel is loaded already, else null.
std::unique_ptr<Plan> Planner::resident_plan(const Problem& problem, const Choice& choice) {
  const Source source = specialise(*choice.family, problem, choice.config, rooms_.facts);
  const int smem_bytes = choice.family->resources(problem, choice.config).smem_bytes;
  ResidentKernel kernel = loaded_.find(rooms_.jit.key_of(source).unit, smem_bytes);
  if (!kernel) return nullptr;
  return std::make_unique<Plan>(Plan{problem, choice, std::move(kernel.compiled), std::move(kernel.loaded)});
}

/// A plan with a configuration that other buckets of the same problem run, the latest first; null when none fits.
std::unique_ptr<Plan> Planner::stand_in(const Problem& problem) {
  const auto known = resident_.find(exact_part(problem));
  if (known == resident_.end()) return nullptr;
  for (auto choice = known->second.rbegin(); choice != known->second.rend(); ++choice) {
    const Family& family = *choice->family;
    if (!covers(family, problem, rooms_.facts) || !legal(family, problem, choice->config, rooms_.facts)) continue;
    if (auto plan = resident_plan(problem, {&family, choice->config, Choice::From::resident, 0})) return plan;
  }
  return nullptr;
}

void Planner::prepare_in_background(const Problem& problem) {
  const auto [entry, fresh] = preparing_.try_emplace(problem);
  if (!fresh) return;
  try {
    background_.submit([this, problem] { prepare(problem); });
  } catch (...) {
    preparing_.erase(entry);
    throw;
  }
}

/// Any exception is kept for the next caller, in what was allocated for it before.
void Planner::prepare(const Problem& problem) noexcept {
  if (!begin_preparing(problem)) return;  // a caller was faster
  std::exception_ptr failure;
  try {
    std::unique_ptr<Plan> made = make_plan(problem, nullptr, HSTU_MISS_ASYNC);
    remember(*made);
    account_for(rooms_.plans.replace(std::move(made)));
    arrived_.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    failure = std::current_exception();
    failed_.fetch_add(1, std::memory_order_relaxed);
    tell_log([&] {
      explain_exception([&](hstu_status, const char* why) { log().warn("{}: not prepared: {}", text(problem), why); });
    });
  }
  const std::lock_guard lock(making_);
  if (failure)
    preparing_.find(problem)->second.failure = failure;
  else
    preparing_.erase(problem);
}

bool Planner::begin_preparing(const Problem& problem) {
  const std::lock_guard lock(making_);
  const auto known = preparing_.find(problem);
  return known != preparing_.end() && !std::exchange(known->second.begun, true);
}

/// Whether the background was told of the problem, has not begun with it, and has no thread to do so.
bool Planner::waits_in_vain(const Problem& problem) const {
  const auto known = preparing_.find(problem);
  return known != preparing_.end() && !known->second.begun && !background_.has_threads();
}

/// Prepared by this thread.
const Plan& Planner::prepared_plan(const Problem& problem) {
  prepare(problem);
  const std::lock_guard lock(making_);
  throw_failure_of(problem);
  if (const Plan* plan = rooms_.plans.find(problem)) return *plan;
  fail(HSTU_ERROR_NOT_READY, "{}: its kernel is being prepared by another thread; call again", text(problem));
}

// ---- Refusals and accounts

void Planner::refuse_when_frozen() const {
  if (frozen_)
    fail(HSTU_ERROR_NOT_READY,
         "the context is frozen and this problem had no plan by then; run every problem once before "
         "hstu_context_freeze");
}

bool Planner::capturing(CUstream stream) const {
  if (!rooms_.driver) return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = rooms_.driver->cuStreamIsCapturing(stream, &status);
  // The legacy stream cannot be asked while another stream captures in global mode: that is a capture, too.
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  if (result == CUDA_ERROR_INVALID_CONTEXT) return false;  // no context in this thread, so nothing it could capture
  rooms_.driver->check(result, "asking whether the stream is being captured");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void Planner::refuse_while_capturing(CUstream stream) const {
  if (!capturing(stream)) return;
  fail(HSTU_ERROR_STREAM_CAPTURING,
       "this problem has no loaded kernel yet and the stream is being captured; run the call once before the capture");
}

void Planner::freeze() {
  std::vector<std::shared_future<const Plan*>> waiting;
  {
    const std::lock_guard lock(making_);
    waiting.reserve(under_way_.size());
    frozen_ = true;
    for (const auto& [problem, future] : under_way_) waiting.push_back(future);
  }
  for (const auto& future : waiting) future.wait();
  background_.finish();
}

/// Remembers what the plan runs, for problems that differ in buckets only.
void Planner::remember(const Plan& plan) {
  if (!plan.kernel) return;
  const std::lock_guard lock(making_);
  std::vector<Choice>& choices = resident_[exact_part(plan.problem)];
  const auto same = [&](const Choice& c) { return c.family == plan.choice.family && c.config == plan.choice.config; };
  std::erase_if(choices, same);
  choices.push_back(plan.choice);
}

/// Counts the miss by its class and says what became of it.
void Planner::account_for(const Plan& plan) noexcept {
  std::atomic<int64_t>* counters[] = {&tuned_, &nearest_, &standard_, &stand_ins_};
  counters[static_cast<size_t>(plan.choice.from)]->fetch_add(1, std::memory_order_relaxed);
  if (!log().has(LogLevel::info)) return;
  tell_log([&] { log().info("{}: {}", text(plan.problem), text(plan.choice)); });
}

PlannerCounters Planner::counters() const {
  return {tunes_, tuned_, nearest_, standard_, stand_ins_, arrived_, failed_, refused_, loads_, load_ns_, unusable_};
}

}  // namespace hstujit
