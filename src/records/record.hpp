// What tuning leaves behind, as plain data. Trials are truth: one configuration measured once in one job. Records are
// derived from them (decide.hpp): the configuration to run for a problem on a device class. Families and configurations
// are named in text, so that they outlive a change of a family's knob table.
#pragma once

#include "operators/problem.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace hstujit {

/// Under which circumstances a time was measured: evidence, not identity. A record from another driver or from other
/// kernel sources still names a legal configuration.
struct Evidence {
  std::string device;    ///< "NVIDIA H200"
  std::string compiler;  ///< CompiledKernel::compiler
  std::string kernels;   ///< digest of the kernel sources, 32 hex digits
  std::string library;   ///< "0.1.0"
  int64_t driver = 0;    ///< 13000 for CUDA 13.0

  auto operator<=>(const Evidence&) const = default;
};

// X(name, value): why a trial can win (ok) or cannot. Values are stored; never reuse one.
#define HSTU_TRIAL_STATUSES(X)                                               \
  X(ok, 0)             /* right, and measured completely */                  \
  X(slow, 1)           /* right, abandoned early: clearly behind the best */ \
  X(compile_failed, 2) /* NVRTC or the loader refused it */                  \
  X(flawed, 3)         /* spills, stack frame or compiler warning */         \
  X(wrong, 4)          /* output differs from the default configuration's */ \
  X(failed, 5)         /* the launch failed */

enum class TrialStatus : int32_t {
#define HSTU_DECLARE(name, value) name = value,
  HSTU_TRIAL_STATUSES(HSTU_DECLARE)
#undef HSTU_DECLARE
};

enum class Stage : int32_t {
  search = 0,
  finals = 1,  ///< measured again, interleaved with the default and the other best ones
};

/// Order matters: when two copies of a job meet, the higher state is the later one.
enum class JobState : int32_t { running = 0, cancelled = 1, finished = 2 };

struct Timing {
  int32_t samples = 0;
  int64_t median_ns = 0;
  int64_t mad_ns = 0;  ///< median absolute deviation from the median
  int64_t p20_ns = 0, p80_ns = 0;

  auto operator<=>(const Timing&) const = default;
};

struct Trial {
  std::string family;
  std::string config;     ///< text(family, config)
  std::string space;      ///< the knob table it was drawn from, space_text(family)
  bool standard = false;  ///< the default configuration that winners must beat
  TrialStatus status = TrialStatus::ok;
  Stage stage = Stage::search;
  Timing timing;
  int32_t sm_mhz = 0;  ///< SM clock while measuring; 0 unknown
  int32_t registers = 0, smem_bytes = 0, spill_bytes = 0;
  int64_t at_ms = 0;  ///< Unix time

  auto operator<=>(const Trial&) const = default;
};

/// One tuning run of one problem.
constexpr size_t kMaxUid = 32;
struct Job {
  std::string uid;  ///< random hex digits, at most kMaxUid
  Problem problem;
  std::string device_class;
  Evidence evidence;
  uint64_t seed = 0;
  int64_t budget_ms = 0;
  JobState state = JobState::running;
  int64_t started_ms = 0, updated_ms = 0;  ///< Unix time
  std::vector<Trial> trials;
};

/// The configuration to run for a problem on a device class, with the measurement that speaks for it.
struct Record {
  Problem problem;
  std::string device_class;
  std::string job;  ///< uid of the job that decided
  Evidence evidence;
  Trial trial;
  int64_t standard_ns = 0;  ///< median of the default configuration in the same job
};

}  // namespace hstujit
