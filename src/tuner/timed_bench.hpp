// A bench that knows what its measurements take.
#pragma once

#include "tuner/bench.hpp"
#include "tuner/cores.hpp"

#include <memory>
#include <utility>

namespace hstujit {

class TimedBench : public Bench {
 public:
  /// cores: for the time.
  TimedBench(std::unique_ptr<Bench> bench, const Cores& cores) : bench_(std::move(bench)), cores_(cores) {}

  Verdict verify(const Candidate& candidate) override { return bench_->verify(candidate); }
  Sample measure(const Candidate& candidate, int repetitions) override {
    const double begun = cores_.now();
    Sample sample = bench_->measure(candidate, repetitions);
    seconds_ += cores_.now() - begun;
    repetitions_ += repetitions;
    return sample;
  }
  bool alive() override { return bench_->alive(); }

  /// On average, warming up included; 0 before anything was measured.
  double seconds_a_repetition() const { return repetitions_ > 0 ? seconds_ / repetitions_ : 0; }

 private:
  std::unique_ptr<Bench> bench_;
  const Cores& cores_;
  double seconds_ = 0;
  int repetitions_ = 0;
};

}  // namespace hstujit
