// warm: compiles everything a workload needs, or all that tuning it may try, in parallel; for named targets without a
// GPU.
#include "hstu_tune/messages.hpp"
#include "hstu_tune/warm_spaces.hpp"
#include "hstu_tune/warming.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit::tool {
namespace {

struct Options {
  std::string workload, device = "cuda";
  std::vector<std::string> targets;
  bool spaces = false, wide = false;
  StoreChoice store;
};

int execute(const Options& options) {
  const auto traffic = load_traffic(options.workload);
  std::vector<std::unique_ptr<Context>> contexts;
  for (const std::string& target : options.targets) contexts.push_back(open_context(options.store, target));
  if (contexts.empty()) {
    require_gpu_name(options.device);
    contexts.push_back(open_context(options.store, options.device));
  }
  if (options.wide && !options.spaces) throw UsageError("--wide goes with --spaces");
  if (options.spaces) {
    const bool complete = warm_spaces(contexts, traffic->needs, options.wide ? Width::wide : Width::usual);
    fmt::print("{}: {}\n", traffic->workload.name, counters_text(contexts));
    return complete ? 0 : 1;
  }
  const std::vector<Warmed> all = warm(contexts, traffic->needs, [](const Warmed& one) {
    if (!one.plan) complain("{} for {}: {}", one.need->call->name, one.context->facts().target, one.error);
  });
  print_warmed(all);
  fmt::print("{}: {}\n", traffic->workload.name, counters_text(contexts));
  return std::all_of(all.begin(), all.end(), [](const Warmed& one) { return one.plan; }) ? 0 : 1;
}

}  // namespace

void add_warm(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("warm", "Compile every kernel that a workload needs");
  command.option("workload", options->workload, "Workload file").required();
  add_device_option(command, options->device);
  add_arch_option(command, options->targets);
  command.flag("--spaces", options->spaces,
               "Compile every configuration that tuning the workload may try, so that a GPU only has to measure; "
               "HSTUJIT_LOG=info names those rejected");
  command.flag("--wide", options->wide, "With --spaces: also what the families refuse for speed alone");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
