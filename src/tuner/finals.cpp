#include "tuner/finals.hpp"

#include "records/decide.hpp"
#include "records/statistics.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "tuner/trial_run.hpp"
#include "tuner/tuning_job.hpp"

#include <algorithm>

namespace hstujit {
namespace {

constexpr double kNear = 0.015;       // search medians within twice this share of the best meet again
constexpr size_t kMostFinalists = 8;  // and the default, and what won before
constexpr int kPerRound = 5;
constexpr int kRounds = 6, kLeastRounds = 2;

struct Lane {
  std::vector<double> seconds;
  int sm_mhz = 0;
  bool out = false;
};

void run_once(Bench& bench, const Candidate& candidate, Lane& lane) {
  if (lane.out) return;
  try {
    const Sample sample = measure(bench, candidate, kPerRound);
    lane.seconds.insert(lane.seconds.end(), sample.seconds.begin(), sample.seconds.end());
    lane.sm_mhz = sample.sm_mhz;
  } catch (const Error& e) {
    log().warn("tuner: a finalist drops out: {}", e.message());
    lane.out = true;
  }
}

}  // namespace

std::vector<Trial> finalists_of(const std::vector<Trial>& trials, const Trial* before) {
  std::vector<Trial> sound;
  for (const Trial& t : trials)
    if (t.stage == Stage::search && t.status == TrialStatus::ok) sound.push_back(t);
  std::sort(sound.begin(), sound.end(), [](const Trial& a, const Trial& b) {
    return a.timing.median_ns != b.timing.median_ns ? a.timing.median_ns < b.timing.median_ns : preferred(a, b);
  });
  std::vector<Trial> finalists;
  for (const Trial& t : sound) {
    const bool near = interval_of(t.timing, kNear).overlaps(interval_of(sound.front().timing, kNear));
    const bool won = before && t.family == before->family && t.config == before->config;
    if (t.standard || won || (near && finalists.size() < kMostFinalists)) finalists.push_back(t);
  }
  return finalists;
}

std::vector<Trial> run_finals(Bench& bench, const std::vector<Candidate>& candidates, std::vector<Trial> trials,
                              const std::function<bool(int rounds)>& enough) {
  std::vector<Lane> lanes(candidates.size());
  int rounds = 0;
  while (rounds < kRounds && !enough(rounds)) {
    // Everybody follows everybody else in turn: the heat of one's predecessor is not always one's own handicap.
    for (size_t i = 0; i < candidates.size(); ++i) {
      const size_t lane = (i + static_cast<size_t>(rounds)) % candidates.size();
      run_once(bench, candidates[lane], lanes[lane]);
    }
    ++rounds;
  }
  if (rounds < kLeastRounds) return {};
  std::vector<Trial> out;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (lanes[i].out) continue;
    Trial& t = out.emplace_back(std::move(trials[i]));
    t.stage = Stage::finals;
    t.timing = timing_of(lanes[i].seconds);
    t.sm_mhz = lanes[i].sm_mhz;
    t.at_ms = now_ms();
  }
  return out;
}

}  // namespace hstujit
