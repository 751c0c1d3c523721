#include "tuner/tune_call.hpp"

#include "specialise/kernel_sources.hpp"
#include "support/ranges.hpp"
#include "tuner/gpu_bench.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

Evidence evidence_of(const Driver& driver, const DeviceFacts& device, const std::string& kernels) {
  Evidence evidence;
  evidence.device = device.name;
  evidence.driver = driver.version;
  evidence.kernels = kernels;
  evidence.library = fmt::format("{}.{}.{}", HSTU_VERSION_MAJOR, HSTU_VERSION_MINOR, HSTU_VERSION_PATCH);
  return evidence;
}

}  // namespace

std::string kernels_digest(const std::vector<const Family*>& families, KernelSources& sources) {
  Digester digester;
  for (const Family* family : families) {
    const std::string header = family->header();
    digester.add(header).add(sources.closure(header).digest.hex());
  }
  return digester.finish().hex();
}

TuneResult tune_call(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                     const Problem& problem, const void* args, const TuneOptions& options) {
  const Range range([&] { return "tune " + text(problem); });
  const auto families = families_for(problem, device);
  KernelSources sources;
  const TuneTask task{problem, device, families, evidence_of(driver, device, kernels_digest(families, sources))};
  GpuBenchOptions bench_options;
  bench_options.seed = options.seed;
  GpuBench bench(driver, device, problem, args, bench_options);
  return tune(
      task, records, bench, [&jit](const Source& source) { return jit.obtain(source); }, options);
}

}  // namespace hstujit
