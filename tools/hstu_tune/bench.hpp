// The parts of hstu-tune bench. Each prints what it measured and adds it to the report.
#pragma once

#include "hstu_tune/command.hpp"
#include "hstu_tune/report.hpp"
#include "hstu_tune/rivals.hpp"
#include "hstu_tune/stopwatch.hpp"

#include <string>
#include <vector>

namespace hstujit::tool {

/// The device as a host has it.
struct BenchRun {
  StoreChoice store;
  std::string device;
  HostContext host;
  Report& report;
  Rivals rivals = {};

  Context& context() const { return host->context; }
  const Driver& driver() const { return context().driver(); }
};

/// The needs that the device has, and a line that names the figures whose operators it lacks, if there are any.
std::vector<Need> needs_not_lacking(const DeviceFacts& device, const std::vector<Need>& needs);

/// What the device can do, measured in the same run.
struct Yardsticks {
  double copy_gbs = 0;        ///< device copy, bytes read plus bytes written
  double product_tflops = 0;  ///< cuBLASLt, 8192 cubed, bf16; 0 where it is not installed
};
Yardsticks measure_yardsticks(BenchRun& bench);
/// GB/s of a device copy that reads and writes so many bytes together, cold.
double measure_copy(BenchRun& bench, size_t bytes);

// A part measures nothing where figures are asked for by name and it has none of them.

/// Every problem of the traffic once, cold, beside yardsticks.
void bench_operators(BenchRun& bench, const Traffic& traffic);

/// Matrix products beside cuBLASLt's, by turns: few rows in a graph, plain ones, fused SiLU, FP8 and the norm in front
/// of it.
void bench_products(BenchRun& bench);
/// Errors of FP8 products: of quantisation and of accumulation.
void bench_fp8_errors(BenchRun& bench);

/// Host time of a warm call through the C API, beside a bare launch of the same kernel.
void bench_warm_calls(BenchRun& bench);

/// First calls of a fresh process that finds its kernels in the store.
void bench_first_calls(BenchRun& bench, const std::string& workload, const std::vector<Need>& needs);

/// How soon a process launches whose kernels are in the store, and how fast many are compiled.
void bench_engine(BenchRun& bench, const std::string& workload, const std::vector<Need>& needs);

/// NVRTC times of the workload's kernels for targets or devices, one at a time, nothing cached.
void bench_compiles(Report& report, const std::vector<std::string>& devices, const std::vector<Need>& needs);

}  // namespace hstujit::tool
