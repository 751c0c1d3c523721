// The object behind hstu_context: owns the rooms of one device and holds the walk of a call,
// problem -> plan -> launch; call/planner.hpp makes the plans that are missing.
#pragma once

#include "call/planner.hpp"
#include "cuda/device.hpp"
#include "cuda/driver.hpp"
#include "jit/jit.hpp"
#include "launch/device_context.hpp"
#include "launch/plan_table.hpp"
#include "launch/tile_counters.hpp"
#include "operators/operators.hpp"
#include "records/records.hpp"
#include "support/env.hpp"
#include "traffic/traffic.hpp"

#include <hstujit/hstujit.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace hstujit {

/// Options with defaults and environment resolved.
struct ContextOptions {
  std::string device = "cuda:0";
  hstu_miss_policy miss_policy = HSTU_MISS_DEFAULT;
  std::string store_path;         ///< "" for memory only
  std::string system_store_path;  ///< a folder or a pack; "" for none
  int64_t tune_budget_ms = 30'000;
};

/// The same with paths from "/" on, so that they mean the same for as long as the context lives, whatever the process's
/// current folder is then. A relative path is left out with a warning when the current folder is gone.
ContextOptions with_absolute_paths(ContextOptions options);

/// Leaves out or refuses paths that others may have written to, see support/trust.hpp.
void leave_out_doubtful_paths(ContextOptions& options, bool store_by_default, bool strict);

/// Where records come from: the stores, a pack in the place of the system store (null: it is a folder or nothing), and
/// those that the library ships.
RecordsOptions records_options(const std::string& store_path, const std::string& system_store_path, const Pack* pack);

class Context {
 public:
  Context(ContextOptions options, const Environment& environment);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Runs one prepared call (args: the operator's struct after prepare). Warm: one lookup and one launch.
  void run(const Problem& problem, const void* args, CUstream stream);

  /// Makes sure that run() will find its kernel loaded; the plan it will find, or null where no kernel runs.
  const Plan* make_ready(const Problem& problem, const void* args, CUstream stream);

  /// Throws what run() would where no kernel of the device covers the problem. args: prepared.
  void check_takes(const Problem& problem, const void* args) const;

  /// The problem's plan, if it has one.
  const Plan* find(const Problem& problem) const { return plans_.find(problem); }
  /// While it stays, plans that were found are found still, and records_traffic() is what it was when read after it;
  /// unlike any other context's, also of those that are gone.
  uint64_t plan_generation() const { return plans_.generation(); }

  /// The two halves of run()'s launch: grid and parameters of these arguments, and the driver's part.
  void bind(const Plan& plan, const void* args, Launch& launch) const;
  void launch(const Plan& plan, const Launch& launch, CUstream stream) const;
  /// Binds and launches. A record's configuration that the driver refuses gives way to the default.
  void launch(const Plan& plan, const void* args, CUstream stream);
  /// After a launch of the plan that ended in this error: the same call with the default configuration, which then
  /// takes the plan's place. False, and nothing happened, where the plan runs no record's or the default fails as well.
  /// args: prepared.
  bool launch_default(const Plan& plan, const Error& error, const void* args, CUstream stream);
  /// What launch() does when the driver's part gave `result`: again, or throws.
  void launch_failed(const Plan& plan, const Launch& launch, CUstream stream, CUresult result) const;

  /// The problem's plan, made now if need be (may compile and tune, as the miss policy says).
  const Plan& plan_for(const Problem& problem, const void* args, CUstream stream) {
    return planner_->plan_for(problem, args, stream);
  }

  Planner& planner() { return *planner_; }
  hstu_counters counters() const;
  void record_traffic(bool on);
  bool records_traffic() const { return recording_.load(std::memory_order_relaxed) != nullptr; }
  void write_traffic(const char* path, int64_t* left_out) const;

  const DeviceFacts& facts() const { return facts_; }
  bool on_gpu() const { return driver_ != nullptr; }
  const Driver& driver() const { return *driver_; }
  /// The device's primary context; null unless on_gpu().
  CUcontext device_context() const { return primary_context_ ? primary_context_->get() : nullptr; }
  Jit& jit() { return jit_; }
  Records& records() { return records_; }

 private:
  enum class Kind { gpu, cpu, compile_only };

  ContextOptions options_;
  Kind kind_;
  DeviceFacts facts_;
  const Driver* driver_ = nullptr;                 ///< null unless kind_ is gpu
  std::optional<PrimaryContext> primary_context_;  ///< of kind_ gpu
  std::shared_ptr<const Pack> pack_;               ///< null when the system store is a folder or nothing
  Jit jit_;
  Records records_;
  PlanTable plans_;
  std::optional<TileCounters> tile_counters_;  ///< of kind_ gpu; after the plans: their kernels may run until it ends
  std::unique_ptr<Planner> planner_;           ///< its threads use all above
  std::atomic<Traffic*> recording_{nullptr};   ///< null: nothing is counted
  mutable std::mutex starting_;                ///< guards traffic_
  std::unique_ptr<Traffic> traffic_;           ///< made when first asked for, then kept
};

}  // namespace hstujit
