// What happens when a problem has no plan yet: choose, specialise, obtain, load; at once, behind the caller's back, or
// not at all, as the miss policy says. Nothing here runs on a warm call.
#pragma once

#include "cuda/device.hpp"
#include "cuda/driver.hpp"
#include "jit/jit.hpp"
#include "launch/loaded_kernels.hpp"
#include "launch/plan_table.hpp"
#include "records/records.hpp"
#include "support/background.hpp"
#include "support/error.hpp"

#include <hstujit/hstujit.h>

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace hstujit {

struct PlannerCounters {
  int64_t tunes = 0, tuned = 0, nearest = 0, standard = 0, stand_ins = 0, arrived = 0, failed = 0, refused = 0,
          loads = 0, load_ns = 0, unusable = 0;
};

class Planner {
 public:
  /// What a planner works with; all of it outlives the planner. driver is null on a compile-only context.
  struct Rooms {
    const DeviceFacts& facts;
    const Driver* driver;
    CUcontext device_context;
    Jit& jit;
    Records& records;
    PlanTable& plans;
  };
  Planner(Rooms rooms, hstu_miss_policy policy, int64_t tune_budget_ms);

  /// The problem's plan, made now if need be (may compile and tune) unless policy, capture or freezing forbid it.
  const Plan& plan_for(const Problem& problem, const void* args, CUstream stream);

  /// A plan of the default configuration, for when the driver will not launch what a record named; null where the plan
  /// runs no record's, or no plan is to be exchanged.
  std::unique_ptr<Plan> default_instead_of(const Plan& plan);
  /// Gives its place to that plan, which was launched.
  void replace_unusable(const Plan& plan, const Error& reason, std::unique_ptr<Plan> by);

  void set_policy(hstu_miss_policy policy) { policy_.store(policy, std::memory_order_relaxed); }
  /// Returns when nothing is left to be prepared in the background; prepares it itself where no thread can be had.
  void finish() { background_.finish(); }
  /// No plan is made or exchanged any more once this returns; what is under way is waited for.
  void freeze();
  PlannerCounters counters() const;

 private:
  struct HashProblem {
    size_t operator()(const Problem& problem) const { return problem.hash(); }
  };
  template <class Value>
  using ByProblem = std::unordered_map<Problem, Value, HashProblem>;

  const Plan& missing_plan(const Problem& problem, const void* args, CUstream stream);
  const Plan& plan_once(const Problem& problem, const void* args);
  std::unique_ptr<Plan> make_plan(const Problem& problem, const void* args, hstu_miss_policy policy);
  std::unique_ptr<Plan> plan_of(const Problem& problem, const Choice& choice, hstu_miss_policy policy);
  void refuse_unlaunchable(const Plan& plan) const;
  bool known_unusable(const Problem& problem, const Choice& choice);
  void note_unusable(const Problem& problem, const Choice& choice, const Error& reason);
  Choice choose_for(const Problem& problem, const void* args, hstu_miss_policy policy);
  std::shared_ptr<const CompiledKernel> kernel_of(const Source& source, const KernelKey& key, hstu_miss_policy policy);
  ResidentKernel load(const Source& source, int smem_bytes, hstu_miss_policy policy);

  /// What the background has to do with a problem, or why it could not.
  struct Preparation {
    bool begun = false;
    std::exception_ptr failure;  ///< for the next caller
  };

  const Plan& plan_at_once(const Problem& problem, CUstream stream);
  std::unique_ptr<Plan> plan_without_waiting(const Problem& problem);
  std::unique_ptr<Plan> resident_plan(const Problem& problem, const Choice& choice);
  std::unique_ptr<Plan> stand_in(const Problem& problem);
  void prepare_in_background(const Problem& problem);
  void prepare(const Problem& problem) noexcept;
  bool begin_preparing(const Problem& problem);
  bool waits_in_vain(const Problem& problem) const;
  const Plan& prepared_plan(const Problem& problem);
  void throw_failure_of(const Problem& problem);

  bool capturing(CUstream stream) const;
  void refuse_while_capturing(CUstream stream) const;
  void refuse_when_frozen() const;
  void remember(const Plan& plan);
  void account_for(const Plan& plan) noexcept;

  const Rooms rooms_;
  const int64_t tune_budget_ms_;
  std::atomic<hstu_miss_policy> policy_;
  LoadedKernels loaded_;
  std::atomic<int64_t> tunes_{0}, tuned_{0}, nearest_{0}, standard_{0}, stand_ins_{0}, arrived_{0}, failed_{0},
      refused_{0}, loads_{0}, load_ns_{0}, unusable_{0};

  std::mutex making_;  ///< guards all below; never held while compiling or loading
  bool frozen_ = false;
  ByProblem<std::shared_future<const Plan*>> under_way_;  ///< their callers wait
  ByProblem<Preparation> preparing_;                      ///< in the background
  ByProblem<std::vector<Choice>> resident_;               ///< by the exact fields alone, see exact_part()
  std::set<Digest> unusable_kernels_;                     ///< of records: they did not compile, load or launch

  Background background_;  ///< last, so that its threads end before what they use
};

}  // namespace hstujit
