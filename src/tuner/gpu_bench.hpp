// The real bench: runs candidates on a GPU, on buffers of its own, checks what they write and times them with cold
// caches.
#pragma once

#include "launch/module.hpp"
#include "launch/tile_counters.hpp"
#include "tuner/bench.hpp"
#include "tuner/call_buffers.hpp"
#include "tuner/device_sensors.hpp"

#include <list>

namespace hstujit {

/// A stream of its own. It waits for the legacy stream, on which plain copies run.
class BenchStream {
 public:
  explicit BenchStream(const Driver& driver);
  ~BenchStream();
  BenchStream(const BenchStream&) = delete;
  BenchStream& operator=(const BenchStream&) = delete;
  operator CUstream() const { return stream_; }

 private:
  const Driver& driver_;
  CUstream stream_ = nullptr;
};

/// Pairs of events around launches, made when first needed.
class EventPairs {
 public:
  explicit EventPairs(const Driver& driver) : driver_(driver) {}
  ~EventPairs();
  EventPairs(const EventPairs&) = delete;
  EventPairs& operator=(const EventPairs&) = delete;

  void begin(size_t pair, CUstream stream) { record(2 * pair, stream); }
  void end(size_t pair, CUstream stream) { record(2 * pair + 1, stream); }
  double seconds(size_t pair) const;  ///< once the stream has passed the end

 private:
  void record(size_t index, CUstream stream);

  const Driver& driver_;
  std::vector<CUevent> events_;
};

struct GpuBenchOptions {
  uint64_t seed = 1;
  /// The default's results are compared with the reference when a shape costs at most this many operations (the
  /// reference is slow), so that a wrong default is noticed.
  double reference_flops = 2e8;
  /// Written before every timed run, to push everything else out of the caches; at least four times the L2 cache.
  int64_t scratch_bytes = 256'000'000;
};

class GpuBench : public Bench {
 public:
  /// args: the operator's prepared args; see CallBuffers. The device's context must be current in the calling thread,
  /// here and in every other call. Throws Error.
  GpuBench(const Driver& driver, const DeviceFacts& device, const Problem& problem, const void* args,
           const GpuBenchOptions& options = {});
  ~GpuBench() override;

  Verdict verify(const Candidate& candidate) override;
  Sample measure(const Candidate& candidate, int repetitions) override;
  bool alive() override;

 private:
  struct Loaded {
    std::shared_ptr<const CompiledKernel> compiled;
    std::unique_ptr<LoadedKernel> kernel;
    int launches_per_sample = 0;  ///< 0: not known yet
  };

  Loaded& load(const Candidate& candidate);
  Launch bound(const Candidate& candidate, CallBuffers::Shape shape) const;
  void launch(const Loaded& loaded, Launch& launch, const Candidate& candidate);
  Verdict verify_shape(const Candidate& candidate, const Loaded& loaded, CallBuffers::Shape shape);
  Verdict check_standard(CallBuffers::Shape shape, const Outputs& outputs);
  std::vector<double> timed(const Loaded& loaded, Launch& launch, const Candidate& candidate, int launches);
  void evict();
  void synchronise();

  const Driver& driver_;
  const DeviceFacts& device_;
  const Problem problem_;
  const GpuBenchOptions options_;
  BenchStream stream_;
  TileCounters tile_counters_;
  CallBuffers buffers_;
  DeviceBuffer scratch_;
  EventPairs events_;
  DeviceSensors sensors_;
  int mhz_ = 0;
  Outputs expected_[2];       ///< of the default configuration, per shape; empty before it was verified
  Outputs actual_;            ///< of the last candidate
  std::list<Loaded> loaded_;  ///< most recently used first
};

}  // namespace hstujit
