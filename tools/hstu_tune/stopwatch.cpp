#include "hstu_tune/stopwatch.hpp"

#include "records/statistics.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace hstujit::tool {
namespace {

constexpr size_t kScratchBytes = 256'000'000;  // more than any L2
constexpr int kWarmups = 10, kSamples = 30;
constexpr int kQueued = 4;  // rounds of cold runs between two looks at the device
constexpr std::chrono::milliseconds kRest(50);

}  // namespace

Stopwatch::Stopwatch(const Driver& driver, CUcontext context) : driver_(driver) {
  driver.check(driver.cuCtxPushCurrent(context), "making the device's context current");
  const CUresult result = driver.cuStreamCreate(&stream_, CU_STREAM_DEFAULT);
  if (result == CUDA_SUCCESS) return;
  driver.cuCtxPopCurrent(&context);
  driver.check(result, "creating a stream");
}

Stopwatch::~Stopwatch() {
  driver_.cuStreamSynchronize(stream_);
  for (const CUevent event : events_) driver_.cuEventDestroy(event);
  if (scratch_) driver_.cuMemFree(scratch_);
  driver_.cuStreamDestroy(stream_);
  CUcontext popped = nullptr;
  driver_.cuCtxPopCurrent(&popped);
}

void Stopwatch::synchronise() const { driver_.check(driver_.cuStreamSynchronize(stream_), "waiting for the device"); }

CUevent Stopwatch::event(size_t index) {
  while (events_.size() <= index) {
    CUevent created = nullptr;
    driver_.check(driver_.cuEventCreate(&created, CU_EVENT_DEFAULT), "creating an event");
    events_.push_back(created);
  }
  return events_[index];
}

void Stopwatch::record(size_t index) {
  driver_.check(driver_.cuEventRecord(event(index), stream_), "recording an event");
}

double Stopwatch::seconds_between(size_t first, size_t second) const {
  float ms = 0;
  driver_.check(driver_.cuEventElapsedTime(&ms, events_[first], events_[second]), "reading a time");
  return ms * 1e-3;
}

void Stopwatch::evict() {
  if (!scratch_) driver_.check(driver_.cuMemAlloc(&scratch_, kScratchBytes), "allocating scratch memory");
  driver_.check(driver_.cuMemsetD8Async(scratch_, 0, kScratchBytes, stream_), "writing scratch memory");
}

Timing Stopwatch::cold(const GpuWork& work) { return cold(std::vector<GpuWork>{work}).front(); }

std::vector<Timing> Stopwatch::cold(const std::vector<GpuWork>& works) {
  if (!sensors_) sensors_.emplace(driver_);
  // Runs are queued before any is read: the fill keeps the device busy while the host queues the next one, so the
  // events enclose the work alone and no launch gap. A few at a time: behind a long queue a launch of 6 us takes 7, up
  // to its last five runs, and the spread is 5 % instead of 1.
  for (int run = 0; run < kWarmups + kSamples; ++run) {
    if (run % kQueued == 0) synchronise();
    for (size_t i = 0; i < works.size(); ++i) {
      evict();
      const size_t index = 2 * (static_cast<size_t>(std::max(0, run - kWarmups)) * works.size() + i);
      record(index);
      works[i](stream_);
      record(index + 1);
    }
  }
  mhz_ = sensors_->mhz();  // while the device is busy
  synchronise();
  std::vector<Timing> timings;
  for (size_t i = 0; i < works.size(); ++i) {
    std::vector<double> samples;
    for (size_t run = 0; run < kSamples; ++run) {
      const size_t index = 2 * (run * works.size() + i);
      samples.push_back(seconds_between(index, index + 1));
    }
    timings.push_back(timing_of(samples));
  }
  return timings;
}

Timing Stopwatch::warm(const GpuWork& work, int warmups, int samples) {
  for (int run = 0; run < warmups; ++run) work(stream_);
  record(0);
  for (int run = 0; run < samples; ++run) {
    work(stream_);
    record(static_cast<size_t>(run) + 1);
  }
  synchronise();
  std::vector<double> seconds;
  for (size_t i = 0; i < static_cast<size_t>(samples); ++i) seconds.push_back(seconds_between(i, i + 1));
  return timing_of(seconds);
}

Timing Stopwatch::rested(const GpuWork& work, int samples) {
  std::vector<double> seconds;
  for (int run = 0; run < samples; ++run) {
    std::this_thread::sleep_for(kRest);
    record(0);
    work(stream_);
    record(1);
    synchronise();
    seconds.push_back(seconds_between(0, 1));
  }
  return timing_of(seconds);
}

std::vector<double> Stopwatch::steps(const std::vector<GpuWork>& sequence, int warmups, int samples) {
  std::vector<std::vector<double>> times(sequence.size());
  for (int run = 0; run < warmups + samples; ++run) {
    record(0);
    for (size_t i = 0; i < sequence.size(); ++i) {
      sequence[i](stream_);
      record(i + 1);
    }
    synchronise();
    for (size_t i = 0; run >= warmups && i < sequence.size(); ++i) times[i].push_back(seconds_between(i, i + 1));
  }
  std::vector<double> medians;
  for (auto& each : times) {
    std::sort(each.begin(), each.end());
    medians.push_back(quantile(each, 0.5));
  }
  return medians;
}

}  // namespace hstujit::tool
