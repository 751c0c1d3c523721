// bench: times of a workload's operators, with yardsticks of the same run; host overhead; first calls; compile times.
#include "hstu_tune/bench.hpp"

#include "cuda/nvrtc.hpp"
#include "support/env.hpp"
#include "support/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hstujit::tool {
namespace {

struct Options {
  std::string workload = "tools/workloads/figures.json", device = "cuda", json, rivals;
  std::vector<std::string> targets, only, figures;
  StoreChoice store;

  bool wants(std::string_view part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
};

const std::vector<std::string> kParts = {"operators", "products", "warm-calls", "first-calls", "engine", "compiles"};

int bench_on_gpu(const Options& options, Traffic& traffic, Report& report) {
  require_gpu_name(options.device);
  const std::string generation = parse_gpu_name(options.device)->generation;
  report.limit_to(generation);
  BenchRun bench{options.store, options.device, open_host_context(options.store, options.device), report,
                 Rivals::measured_by(options.rivals)};
  const DeviceFacts& facts = bench.context().facts();
  report["device"] = facts.name;
  report["rivals"] = bench.rivals.all();
  report["driver"] = bench.driver().version;
  report["nvrtc"] = nvrtc_at(Environment::read().libnvrtc).identity;
  fmt::print("{} on {} ({}), driver CUDA {}.{}\n", traffic.workload.name, facts.name, facts.target,
             bench.driver().version / 1000, bench.driver().version % 1000 / 10);
  traffic.needs = needs_not_lacking(facts, traffic.needs);
  if (options.wants("operators")) bench_operators(bench, traffic);
  if (options.wants("products")) {
    bench_products(bench);
    bench_fp8_errors(bench);
  }
  if (options.wants("warm-calls")) bench_warm_calls(bench);
  if (options.wants("first-calls")) bench_first_calls(bench, options.workload, traffic.needs);
  if (options.wants("engine")) bench_engine(bench, options.workload, traffic.needs);
  if (options.wants("compiles"))
    bench_compiles(report, {generation.empty() ? facts.target : options.device}, traffic.needs);
  return 0;
}

int execute(const Options& options) {
  const auto traffic = load_traffic(options.workload);
  Report report;
  report.select(options.figures);
  report["workload"] = traffic->workload.name;
  if (options.targets.empty()) {
    bench_on_gpu(options, *traffic, report);
  } else {
    report["nvrtc"] = nvrtc_at(Environment::read().libnvrtc).identity;
    bench_compiles(report, options.targets, traffic->needs);
  }
  report.write(options.json);
  return 0;
}

}  // namespace

std::vector<Need> needs_not_lacking(const DeviceFacts& device, const std::vector<Need>& needs) {
  std::vector<std::string> lacking;
  for (const Need& need : needs)
    if (need.call->figure && !made_on(device, *need.calls)) lacking.push_back(need.call->name);
  if (!lacking.empty())
    fmt::print("left out, for {} lacks the operator: {}\n", device.target, fmt::join(lacking, "; "));
  return needs_on(device, needs);
}

void add_bench(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("bench", "Measure a workload's operators and the host's share of a call");
  command.option("workload", options->workload, "Workload file").shows_default();
  command.option("--json", options->json, "File for the results as JSON");
  command.option("--only", options->only, fmt::format("Parts to measure: {}", fmt::join(kParts, ", ")))
      .comma_separated()
      .one_of(kParts);
  command
      .option("--figures", options->figures,
              "Names of the figures to measure, and nothing beside them but what is measured with them")
      .comma_separated();
  add_device_option(command, options->device);
  add_arch_option(command, options->targets);
  command
      .option("--rivals", options->rivals,
              "Script that measures other engines on the same machine: tools/rivals/engine.py")
      .excludes("--arch");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
