// A machine of arithmetic: so many cores that compile side by side and a GPU that measures, on recorded spaces, by a
// clock that moves only as they work. How much a search finds in so many seconds is then a test without a GPU, the same
// on every machine. What the tuner itself computes takes no time.
#pragma once

#include "tuner/bench.hpp"
#include "tuner/cores.hpp"
#include "tuner/simulator.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace hstujit {

class SimulatedMachine : public Cores {
 public:
  explicit SimulatedMachine(size_t cores) : free_at_(cores, 0.0) {}

  /// A family's space for a problem; it must outlive the machine.
  void add(const Problem& problem, const Family& family, const RecordedSpace& recorded);
  /// The GPU, for one of its problems.
  std::unique_ptr<Bench> bench(const Problem& problem);

  size_t count() const override { return free_at_.size(); }
  double now() const override { return now_; }
  std::optional<Compiled> find(const Order& order) override;
  void order(Order order) override;
  std::optional<Compiled> take(double until) override;
  Compiled make(const Order& order) override;
  std::vector<uint64_t> drop(const std::function<bool(uint64_t ticket)>& which) override;
  double busy() const override;

  /// Seconds that the GPU has worked.
  double gpu_busy() const { return gpu_busy_; }
  void run_gpu(double seconds);

  struct Row {
    std::optional<double> seconds;
    double compiling, measuring;
  };
  /// Throws Error{INTERNAL} for a configuration that is not in the recording.
  const Row& row(const Problem& problem, const Family& family, const Config& config) const;

  // What a trial takes where the recording does not say: a kernel of ours on a core, and a guess of the GPU's part.
  static constexpr double kUsualCompiling = 0.8, kUsualMeasuring = 0.04;

 private:
  struct Task {
    uint64_t ticket;
    double begin, end;
    KernelPtr kernel;
  };

  double compiling(const Order& order);
  void begin(uint64_t ticket, KernelPtr kernel, double seconds);

  std::map<std::string, std::map<Config, Row>> rows_;  ///< by problem and family
  std::set<std::string> made_;                         ///< kernels
  std::vector<double> free_at_;
  std::vector<Task> tasks_;  ///< not taken yet, in the order of their orders
  double now_ = 0, cores_busy_ = 0, gpu_busy_ = 0;
};

}  // namespace hstujit
