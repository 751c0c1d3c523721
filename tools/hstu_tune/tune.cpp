// tune: finds the best configuration of every problem of a workload on a GPU and keeps what it measured.
#include "hstu_tune/all_gpus.hpp"
#include "hstu_tune/messages.hpp"
#include "hstu_tune/record_spaces.hpp"
#include "hstu_tune/shard.hpp"
#include "hstu_tune/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hstujit::tool {
namespace {

int gpu_count() {
  int count = 0;
  driver().check(driver().cuDeviceGetCount(&count), "counting devices");
  return count;
}

/// Processes of one host take its GPUs in turn.
int gpu_of(const Shard& shard) {
  const int count = gpu_count();
  return count > 0 ? shard.local % count : 0;
}

/// "1%" or "0.01" as 0.01.
std::optional<double> share_of(const std::string& text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, text.data() + text.size());
  if (status != std::errc() || (!rest.empty() && rest != "%")) return std::nullopt;
  const double share = rest.empty() ? value : value / 100;
  return share >= 0 && share <= 1 ? std::optional(share) : std::nullopt;
}

struct Options {
  std::string workload, device, shard;
  std::string spaces;  ///< folder for recorded spaces; "" for none
  bool wide = false;
  bool all_gpus = false;
  TuningOptions tuning;
  StoreChoice store;
};

/// What this process does: all of the workload, or its share of it in a store and, if there are several, on a GPU of
/// its own.
Options shared_out(Options options, Traffic& traffic) {
  if (!options.spaces.empty()) {
    options.tuning.strategy = "exhaustive";
    options.tuning.again = true;  // one job holds it all
    if (options.wide) options.tuning.width = Width::wide;
  } else if (options.wide) {
    throw UsageError("--wide goes with --record-spaces");
  }
  const auto shard = options.shard.empty() ? launched_shard() : parse_shard(options.shard);
  const bool alone = !shard || shard->count == 1;
  if (options.device.empty()) options.device = alone ? "cuda" : fmt::format("cuda:{}", gpu_of(*shard));
  if (alone) return options;
  std::vector<Need> own;
  for (size_t i = 0; i < traffic.needs.size(); ++i)
    if (shard->has(i)) own.push_back(traffic.needs[i]);
  traffic.needs = std::move(own);
  const std::string all = context_options(options.store, "cpu").store_path;
  if (!all.empty()) options.store.folder = fmt::format("{}/shard-{}-of-{}", all, shard->index, shard->count);
  fmt::print("shard {} of {} ({}), in {}; afterwards: hstu-tune merge {}/shard-*\n", shard->index, shard->count,
             shard->launcher, options.store.folder.value_or("memory"), all);
  return options;
}

/// The same command in a process for each GPU; afterwards the store has what all of them found.
int execute_on_all(const Options& options) {
  if (!options.shard.empty() || launched_shard())
    throw UsageError("--all-gpus starts a process for each GPU; with --shard, mpirun or srun leave it out");
  if (!options.device.empty() || !options.spaces.empty())
    throw UsageError("--all-gpus goes with neither --device nor --record-spaces");
  const std::string store = context_options(options.store, "cpu").store_path;
  if (store.empty()) throw UsageError("--all-gpus needs a store on disk, in which the processes meet");
  const size_t problems = load_traffic(options.workload)->needs.size();
  const int processes = static_cast<int>(std::min<size_t>(static_cast<size_t>(gpu_count()), problems));
  std::vector<std::string> command = {"tune",     options.workload,
                                      "--budget", fmt::format("{}", options.tuning.budget_s),
                                      "--seed",   fmt::format("{}", options.tuning.seed),
                                      "--store",  store};
  if (!options.tuning.strategy.empty()) command.insert(command.end(), {"--strategy", options.tuning.strategy});
  if (options.tuning.again) command.push_back("--again");
  if (options.tuning.by_time) command.push_back("--by-time");
  if (options.tuning.until > 0) command.insert(command.end(), {"--until", fmt::format("{}", options.tuning.until)});
  return tune_in_processes(command, std::max(1, processes), store);
}

int execute(const Options& given) {
  if (given.all_gpus) return execute_on_all(given);
  const auto traffic = load_traffic(given.workload);
  const Options options = shared_out(given, *traffic);
  const int ordinal = ordinal_of(options.device);
  if (traffic->needs.empty()) return fmt::print("{}: no problem for this shard\n", traffic->workload.name), 0;
  const auto context = open_context(options.store, options.device);
  traffic->needs = needs_on(context->facts(), traffic->needs);
  fmt::print("{}: {} problems on {} ({}), at most {:g} s\n", traffic->workload.name, traffic->needs.size(),
             context->facts().name, context->facts().target, options.tuning.budget_s);
  const TuningOutcome outcome = tune_all(*context, ordinal, traffic->needs, options.tuning);
  print_tuned(outcome, *context);
  for (const Tuned& one : outcome.problems)
    if (!one.error.empty()) complain("{}: {}", one.need->call->name, one.error);
  const std::string path = context->records().path();
  fmt::print("{} configurations measured; records in {}\n", outcome.measured(), path.empty() ? "memory only" : path);
  if (outcome.interrupted) complain("interrupted; what was measured is kept, the same command goes on from there");
  const int late = options.tuning.until > 0 ? outcome.out_of_time() : 0;
  if (late > 0)
    complain(
        "{} of {} problems ran out of time before more was expected to gain less than --until asks for; raise "
        "--budget, or take the gain that the table expects to be left",
        late, outcome.problems.size());
  SpacesWritten spaces;
  if (!options.spaces.empty()) spaces = record_spaces(*context, outcome, options.tuning.width, options.spaces);
  if (spaces.incomplete > 0)
    complain("{} spaces were not measured completely and not written; raise --budget", spaces.incomplete);
  return outcome.failed() || outcome.interrupted || late > 0 || spaces.incomplete > 0 ? 1 : 0;
}

}  // namespace

void add_tune(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("tune", "Find the best configuration of each of a workload's problems");
  command.option("workload", options->workload, "Workload file").required();
  command.option("--budget", options->tuning.budget_s, "Seconds, all problems together").not_negative().shows_default();
  command
      .option(
          "--until", [options](const std::string& text) { options->tuning.until = *share_of(text); },
          "End a problem when a second more of it is expected to make it faster by less than this, 1% say "
          "(default: when everything is measured, or with the budget)")
      .checked([](const std::string& text) {
        return share_of(text) ? std::string() : text + ": use a share from 0 to 1, or per cent with the sign";
      });
  command.option("--strategy", options->tuning.strategy, "model, local, random or exhaustive (default: model)")
      .one_of({"model", "local", "random", "exhaustive"});
  command.option("--seed", options->tuning.seed, "Of the search and its inputs").shows_default();
  command.flag("--again", options->tuning.again, "Measure anew what was tuned before");
  command.flag("--by-time", options->tuning.by_time,
               "Let a problem's gain count by the time that the traffic spends in it (default: half so, half equally)");
  command
      .option("--shard", options->shard,
              "I/N: every N-th problem from the I-th on, counted from 0, in a store of its own (default: as "
              "mpirun or srun say)")
      .checked([](const std::string& text) {
        return parse_shard(text) ? std::string() : text + ": use I/N with I from 0 to N - 1";
      });
  command.flag("--all-gpus", options->all_gpus,
               "A process for each GPU of this machine, each with its share of the problems and all of the "
               "budget; then merge their stores");
  command.option("--record-spaces", options->spaces,
                 "Measure every configuration and write each problem's space to this folder, for the simulator "
                 "(implies --strategy exhaustive; mind the budget)");
  command.flag("--wide", options->wide,
               "With --record-spaces: also what the families refuse for speed alone (needs a store of its own, "
               "since its winners may be such)");
  command.option("--device", options->device, "cuda, cuda:N (default: cuda; of several processes each its own)");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
