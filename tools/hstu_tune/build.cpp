// build: a workload's kernels and its tuned records as a pack, one file that servers map; needs no GPU.
#include "hstu_tune/messages.hpp"
#include "hstu_tune/warming.hpp"
#include "jit/pack.hpp"
#include "specialise/source.hpp"
#include "support/error.hpp"
#include "support/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hstujit::tool {
namespace {

struct Options {
  std::string workload, output;
  std::vector<std::string> targets;
  StoreChoice store;
};

/// The kernel of one configuration, compiled or taken from the store.
void add_kernel(PackBuilder& pack, Context& context, const Problem& problem, const Family& family,
                const Config& config) {
  const Source source = specialise(family, problem, config, context.facts());
  pack.add(context.jit().key_of(source), *context.jit().obtain(source));
}

/// What the plan runs, and the default beside a tuned one: a device of the same target but another name runs that.
void add_plan(PackBuilder& pack, Context& context, const Plan& plan) {
  const Family& family = *families_for(plan.problem, context.facts()).front();
  add_kernel(pack, context, plan.problem, *plan.choice.family, plan.choice.config);
  add_kernel(pack, context, plan.problem, family, family.default_config(plan.problem, context.facts()));
}

/// Tuned records of the workload's problems on devices of these targets.
std::string records_of(const Options& options, const Traffic& traffic, const Records& records) {
  return records.export_winners([&](const Record& record) {
    const auto asked = [&](const Need& need) { return need.problem == record.problem; };
    const auto target = [&](const std::string& name) { return record.device_class.ends_with(" " + name); };
    return std::any_of(traffic.needs.begin(), traffic.needs.end(), asked) &&
           std::any_of(options.targets.begin(), options.targets.end(), target);
  });
}

int execute(const Options& options) {
  const auto traffic = load_traffic(options.workload);
  std::vector<std::unique_ptr<Context>> contexts;
  for (const std::string& target : options.targets) contexts.push_back(open_context(options.store, target));
  const std::vector<Warmed> all = warm(contexts, traffic->needs, [](const Warmed& one) {
    if (!one.plan) complain("{} for {}: {}", one.need->call->name, one.context->facts().target, one.error);
  });
  print_warmed(all);
  if (!std::all_of(all.begin(), all.end(), [](const Warmed& one) { return one.plan; })) return 1;
  PackBuilder pack;
  for (const Warmed& one : all) add_plan(pack, *one.context, *one.plan);
  const std::string bytes = pack.finish(records_of(options, *traffic, contexts.front()->records()));
  if (const int error = write_output(options.output, bytes))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", options.output, std::strerror(error));
  fmt::print("{}: {} kernels, {:.1f} MiB in {}\n", traffic->workload.name, pack.size(),
             static_cast<double>(bytes.size()) / (1 << 20), options.output);
  return 0;
}

}  // namespace

void add_build(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("build", "Put a workload's kernels and records into a pack, without a GPU");
  command.option("--workload", options->workload, "Workload file").required();
  command.option("-o,--output", options->output, "The pack to write").required();
  add_arch_option(command, options->targets).required().described("Targets: sm_80, sm_86, sm_89, sm_90a");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
