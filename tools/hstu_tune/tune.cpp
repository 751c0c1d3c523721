// tune: finds the best configuration of every problem of a workload on a GPU and keeps what it measured.
#include "hstu_tune/tuning.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace hstujit::tool {
namespace {

struct Options {
  std::string workload, device = "cuda";
  TuningOptions tuning;
  StoreChoice store;
};

int execute(const Options& options) {
  const auto traffic = load_traffic(options.workload);
  const int ordinal = ordinal_of(options.device);
  const auto context = open_context(options.store, options.device);
  fmt::print("{}: {} problems on {} ({}), at most {:g} s\n", traffic->workload.name, traffic->needs.size(),
             context->facts().name, context->facts().target, options.tuning.budget_s);
  const TuningOutcome outcome = tune_all(*context, ordinal, traffic->needs, options.tuning);
  print_tuned(outcome, *context);
  for (const Tuned& one : outcome.problems)
    if (!one.error.empty()) fmt::print(stderr, "hstu-tune: {}: {}\n", one.need->call->name, one.error);
  const std::string path = context->records().path();
  fmt::print("{} configurations measured; records in {}\n", outcome.measured(), path.empty() ? "memory only" : path);
  if (outcome.interrupted)
    fmt::print(stderr, "hstu-tune: interrupted; what was measured is kept, the same command goes on from there\n");
  return outcome.failed() || outcome.interrupted ? 1 : 0;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("tune", "Find the best configuration of each of a workload's problems");
  command->add_option("workload", options->workload, "Workload file")->required();
  command->add_option("--budget", options->tuning.budget_s, "Seconds, all problems together")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--strategy", options->tuning.strategy, "exhaustive, local or random (default: by the space)")
      ->check(CLI::IsMember({"exhaustive", "local", "random"}));
  command->add_option("--seed", options->tuning.seed, "Of the search and its inputs")->capture_default_str();
  command->add_flag("--again", options->tuning.again, "Measure anew what was tuned before");
  add_device_option(*command, options->device);
  add_store_option(*command, options->store);
  command->callback([&action, options] { action = [options] { return execute(*options); }; });
}

}  // namespace hstujit::tool
