#include "tuner/tune_call.hpp"

#include "operators/f64.hpp"
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

std::vector<TuneOutcome> tune_calls(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                                    const std::vector<CallToTune>& calls, const TuneOptions& options) {
  GpuBenchOptions bench_options;
  bench_options.seed = options.seed;
  KernelSources sources;
  std::vector<TuneProblem> problems;
  for (const CallToTune& call : calls) {
    const auto families = families_for(call.problem, device);
    const Evidence evidence = evidence_of(driver, device, kernels_digest(families, sources));
    problems.push_back({{call.problem, device, families, evidence}, call.weight, [&] {  // calls outlive the run
                          refuse_f64(call.problem, call.args);
                          return std::make_unique<GpuBench>(driver, device, call.problem, call.args, bench_options);
                        }});
  }
  const int threads = options.compile_threads > 0 ? options.compile_threads : default_compile_threads();
  CompilePool pool(
      threads, [&jit](const Source& source) { return jit.obtain(source); },
      [&jit](const Source& source) { return jit.recall(source); });
  return tune(problems, records, pool, options);
}

TuneResult tune_call(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                     const Problem& problem, const void* args, const TuneOptions& options) {
  const Range range([&] { return "tune " + text(problem); });
  refuse_f64(problem, args);
  TuneOutcome outcome = std::move(tune_calls(driver, device, jit, records, {{problem, args}}, options).front());
  if (outcome.error) std::rethrow_exception(outcome.error);
  return *std::move(outcome.result);
}

}  // namespace hstujit
