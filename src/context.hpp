// The object behind hstu_context: owns the rooms of one device and holds the walk of a call,
// problem -> plan -> launch.
#pragma once

#include "cuda/device.hpp"
#include "cuda/driver.hpp"
#include "jit/jit.hpp"
#include "launch/plan_table.hpp"
#include "problem/operators.hpp"
#include "support/env.hpp"
#include "tuner/records.hpp"

#include <hstujit/hstujit.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace hstujit {

/// Options with defaults and environment resolved.
struct ContextOptions {
  std::string device = "cuda:0";
  hstu_miss_policy miss_policy = HSTU_MISS_DEFAULT;
  std::string store_path;         ///< "" for memory only
  std::string system_store_path;  ///< "" for none
  int64_t tune_budget_ms = 30'000;
};

class Context {
 public:
  Context(ContextOptions options, const Environment& environment);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Runs one prepared call (args: the operator's struct after prepare). Warm: one lookup and one launch.
  void run(const Problem& problem, const void* args, CUstream stream);

  /// Makes sure that run() will find its kernel loaded.
  void make_ready(const Problem& problem, const void* args, CUstream stream);

  /// The problem's plan, made now if need be (may compile and tune, as the miss policy says).
  const Plan& plan_for(const Problem& problem, const void* args, CUstream stream);

  void set_miss_policy(hstu_miss_policy policy) { miss_policy_.store(policy, std::memory_order_relaxed); }
  hstu_counters counters() const;

  const DeviceFacts& facts() const { return facts_; }
  bool on_gpu() const { return driver_ != nullptr; }
  const Driver& driver() const { return *driver_; }
  CUcontext device_context() const { return device_context_; }
  Jit& jit() { return jit_; }
  Records& records() { return records_; }

 private:
  enum class Kind { gpu, cpu, compile_only };

  const Plan& plan_once(const Problem& problem, const void* args);
  std::unique_ptr<Plan> make_plan(const Problem& problem, const void* args);
  Choice choose_for(const Problem& problem, const void* args, hstu_miss_policy policy);
  std::shared_ptr<const CompiledKernel> kernel_of(const Choice& choice, const Problem& problem,
                                                  hstu_miss_policy policy);
  void refuse_while_capturing(CUstream stream) const;
  void launch(const Plan& plan, const void* args, CUstream stream) const;
  CUresult try_launch(const Plan& plan, const void* args, CUstream stream) const;
  void count(const Choice& choice);

  ContextOptions options_;
  Kind kind_;
  DeviceFacts facts_;
  const Driver* driver_ = nullptr;  ///< null unless kind_ is gpu
  CUdevice device_ = 0;
  CUcontext device_context_ = nullptr;  ///< the device's primary context
  Jit jit_;
  Records records_;
  std::atomic<hstu_miss_policy> miss_policy_;
  PlanTable plans_;
  std::atomic<int64_t> tunes_{0}, tuned_plans_{0}, nearest_plans_{0}, default_plans_{0};

  struct HashProblem {
    size_t operator()(const Problem& problem) const { return problem.hash(); }
  };
  std::mutex making_;  ///< guards under_way_ only; never held while compiling
  std::unordered_map<Problem, std::shared_future<const Plan*>, HashProblem> under_way_;
};

}  // namespace hstujit
