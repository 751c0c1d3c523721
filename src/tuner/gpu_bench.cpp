#include "tuner/gpu_bench.hpp"

#include "support/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hstujit {
namespace {

constexpr size_t kMostLoaded = 64;  // kernels kept in the driver; finalists are far fewer
constexpr int kWarmups = 2;
constexpr double kShort = 20e-6;  // runs shorter than this are averaged, because events tick in steps ...
constexpr int kShortGroup = 8;    // ... so many to a sample
constexpr int kQueued = 4;        // launches between two looks at the device: behind more, short ones take 1 us longer

}  // namespace

BenchStream::BenchStream(const Driver& driver) : driver_(driver) {
  driver.check(driver.cuStreamCreate(&stream_, CU_STREAM_DEFAULT), "creating the tuner's stream");
}
BenchStream::~BenchStream() { driver_.cuStreamDestroy(stream_); }

EventPairs::~EventPairs() {
  for (const CUevent event : events_) driver_.cuEventDestroy(event);
}

void EventPairs::record(size_t index, CUstream stream) {
  while (events_.size() <= index) {
    CUevent event = nullptr;
    driver_.check(driver_.cuEventCreate(&event, CU_EVENT_DEFAULT), "creating an event");
    events_.push_back(event);
  }
  driver_.check(driver_.cuEventRecord(events_[index], stream), "recording an event");
}

double EventPairs::seconds(size_t pair) const {
  float ms = 0;
  driver_.check(driver_.cuEventElapsedTime(&ms, events_[2 * pair], events_[2 * pair + 1]), "reading a time");
  // One that is wrong would pass unseen in the mean of a group.
  if (!(ms >= 0 && std::isfinite(ms))) fail(HSTU_ERROR_DEVICE, "the driver's timer gave {} ms between two events", ms);
  return static_cast<double>(ms) * 1e-3;
}

GpuBench::GpuBench(const Driver& driver, const DeviceFacts& device, const Problem& problem, const void* args,
                   const GpuBenchOptions& options)
    : driver_(driver),
      device_(device),
      problem_(problem),
      options_(options),
      stream_(driver),
      tile_counters_(driver),
      buffers_(driver, operator_of(problem.op), args, stream_, options.seed),
      scratch_(driver, static_cast<size_t>(std::max(options.scratch_bytes, 4 * device.l2_bytes)),
               "scratch to push inputs out of the cache"),
      events_(driver),
      sensors_(driver) {}

GpuBench::~GpuBench() { driver_.cuStreamSynchronize(stream_); }

GpuBench::Loaded& GpuBench::load(const Candidate& candidate) {
  const auto known =
      std::find_if(loaded_.begin(), loaded_.end(), [&](const Loaded& l) { return l.compiled == candidate.kernel; });
  if (known != loaded_.end()) {
    loaded_.splice(loaded_.begin(), loaded_, known);
    return loaded_.front();
  }
  const int smem = candidate.family->resources(problem_, candidate.config).smem_bytes;
  loaded_.push_front({candidate.kernel, std::make_unique<LoadedKernel>(driver_, *candidate.kernel, smem), 0});
  if (loaded_.size() > kMostLoaded) loaded_.pop_back();
  return loaded_.front();
}

Launch GpuBench::bound(const Candidate& candidate, CallBuffers::Shape shape) const {
  Launch launch;
  bind(*candidate.family, buffers_.args(shape), problem_, candidate.config, device_, tile_counters_.address(), launch);
  return launch;
}

void GpuBench::launch(const Loaded& loaded, Launch& launch, const Candidate& candidate) {
  if (launch.grid[0] == 0) return;
  driver_.check(loaded.kernel->launch(launch, stream_), fmt::format("launching {}", candidate.kernel->name).c_str());
}

void GpuBench::synchronise() { driver_.check(driver_.cuStreamSynchronize(stream_), "waiting for a candidate"); }

bool GpuBench::alive() {
  return driver_.cuMemsetD8Async(scratch_.address(), 0, 1, stream_) == CUDA_SUCCESS &&
         driver_.cuStreamSynchronize(stream_) == CUDA_SUCCESS;
}

// ---- Right?

Verdict GpuBench::verify(const Candidate& candidate) {
  const Loaded& loaded = load(candidate);
  for (const CallBuffers::Shape shape : CallBuffers::kShapes)
    if (Verdict verdict = verify_shape(candidate, loaded, shape); !verdict.right) return verdict;
  return {true, ""};
}

Verdict GpuBench::verify_shape(const Candidate& candidate, const Loaded& loaded, CallBuffers::Shape shape) {
  if (expected_[shape].empty() && !candidate.standard)
    fail(HSTU_ERROR_INTERNAL, "{} was verified before the default configuration", candidate.kernel->name);
  Launch call = bound(candidate, shape);
  if (shape == CallBuffers::kAsCalled && call.grid[0] == 0)
    return {false, "the call has no work, so there is nothing to measure; tune with a batch that is not empty"};
  buffers_.poison();
  launch(loaded, call, candidate);
  buffers_.read_outputs(actual_);
  if (expected_[shape].empty()) {
    Verdict verdict = check_standard(shape, actual_);
    if (verdict.right) std::swap(expected_[shape], actual_);
    return verdict;
  }
  std::string why = buffers_.difference(shape, expected_[shape], actual_);
  return {why.empty(), std::move(why)};
}

/// The default sets the standard for all others, so it is not taken on trust where checking is affordable.
Verdict GpuBench::check_standard(CallBuffers::Shape shape, const Outputs& outputs) {
  if (shape == CallBuffers::kAsCalled && !buffers_.has_results(shape, outputs))
    return {false, "its output has no finite element"};
  if (buffers_.cost(shape).flops > options_.reference_flops) return {true, ""};
  const std::string why = buffers_.difference(shape, buffers_.reference(shape), outputs);
  return {why.empty(), why.empty() ? "" : "against the reference, " + why};
}

// ---- Fast?

void GpuBench::evict() {
  driver_.check(driver_.cuMemsetD8Async(scratch_.address(), 0, scratch_.bytes(), stream_), "evicting the L2 cache");
}

/// Seconds of so many runs with a cold cache. All are queued before the host waits: filling the scratch takes longer
/// than a launch, so the device never waits for the host between the two events.
std::vector<double> GpuBench::timed(const Loaded& loaded, Launch& call, const Candidate& candidate, int launches) {
  std::vector<double> seconds;
  while (static_cast<int>(seconds.size()) < launches) {
    const int part = std::min(kQueued, launches - static_cast<int>(seconds.size()));
    for (int i = 0; i < part; ++i) {
      buffers_.restore();
      evict();
      events_.begin(static_cast<size_t>(i), stream_);
      launch(loaded, call, candidate);
      events_.end(static_cast<size_t>(i), stream_);
    }
    if (static_cast<int>(seconds.size()) + part == launches) mhz_ = sensors_.mhz();  // while the device is busy
    synchronise();
    for (int i = 0; i < part; ++i) seconds.push_back(events_.seconds(static_cast<size_t>(i)));
  }
  return seconds;
}

Sample GpuBench::measure(const Candidate& candidate, int repetitions) {
  Loaded& loaded = load(candidate);
  Launch call = bound(candidate, CallBuffers::kAsCalled);
  const std::vector<double> warmup = timed(loaded, call, candidate, kWarmups);
  if (loaded.launches_per_sample == 0) loaded.launches_per_sample = warmup.back() < kShort ? kShortGroup : 1;
  const auto group = static_cast<size_t>(loaded.launches_per_sample);
  const std::vector<double> seconds = timed(loaded, call, candidate, repetitions * loaded.launches_per_sample);
  Sample sample;
  sample.sm_mhz = mhz_;
  for (size_t i = 0; i < seconds.size(); i += group)
    sample.seconds.push_back(std::accumulate(&seconds[i], &seconds[i] + group, 0.0) / static_cast<double>(group));
  return sample;
}

}  // namespace hstujit
