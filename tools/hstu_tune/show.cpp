// show: what the store holds: tuned records, and compiled kernels with all the compiler said about them.
#include "hstu_tune/command.hpp"
#include "hstu_tune/precision_advice.hpp"
#include "hstu_tune/table.hpp"
#include "jit/entry.hpp"
#include "records/remark.hpp"
#include "support/files.hpp"
#include "support/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hstujit::tool {
namespace {

struct Options {
  std::string match;
  bool records = false, kernels = false, log = false;
  StoreChoice store;
};

bool matches(const Options& options, const std::string& text) {
  return options.match.empty() || text.find(options.match) != std::string::npos;
}

/// What the kernel does that its knobs do not say, and what would be faster.
std::string remark_on(const Record& record, const std::vector<Record>& all) {
  std::string out = precision_advice(record, all);
  const Family* family = family_named(record.trial.family);
  const auto config = family ? parse_config(*family, record.trial.config, {}) : std::nullopt;
  if (!config) return out;
  const std::string_view more = remark(*family, *config);
  return fmt::format("{}{}{}", more, out.empty() || more.empty() ? "" : "; ", out);
}

void show_records(const Options& options, const ContextOptions& store) {
  const Records records(
      records_options(store.store_path, store.system_store_path, open_pack(store.system_store_path).get()));
  Table table({"device", "problem", "family", "configuration", ">time", ">spread", ">default", ">SM MHz",
               "measured with", "remark"});
  const std::vector<Record> all = records.winners()->all();
  for (const Record& record : all) {
    const std::string problem = text(record.problem);
    if (!matches(options, problem) && !matches(options, record.device_class)) continue;
    const Timing& timing = record.trial.timing;
    table.add({record.device_class, problem, record.trial.family, record.trial.config,
               duration_text(static_cast<double>(timing.median_ns) * 1e-9),
               fmt::format("{:.1f} %", timing.median_ns > 0 ? 100.0 * static_cast<double>(timing.mad_ns) /
                                                                  static_cast<double>(timing.median_ns)
                                                            : 0.0),
               duration_text(static_cast<double>(record.standard_ns) * 1e-9), fmt::format("{}", record.trial.sm_mhz),
               fmt::format("driver {}, {}", record.evidence.driver, record.evidence.compiler), remark_on(record, all)});
  }
  fmt::print("records in {}\n", records.path().empty() ? "memory" : records.path());
  if (table.empty())
    fmt::print("none{}\n", options.match.empty() ? "; hstu-tune tune WORKLOAD makes some" : " that match");
  else
    table.print();
}

std::vector<CompiledKernel> stored_kernels(const std::string& folder) {
  std::vector<CompiledKernel> kernels;
  if (const auto pack = open_pack(folder))
    for (Pack::Item& item : pack->items()) kernels.push_back(std::move(item.kernel));
  std::error_code ignored;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, ignored);
       entry != std::filesystem::recursive_directory_iterator(); entry.increment(ignored)) {
    if (ignored || entry->path().extension() != ".kernel") continue;
    std::string bytes;
    if (read_file(entry->path().string(), bytes) != 0) continue;
    if (auto kernel = inspect_entry(bytes)) kernels.push_back(std::move(*kernel));
  }
  std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return kernels;
}

void show_kernels(const Options& options, const std::string& folder) {
  if (folder.empty()) return;
  fmt::print("kernels in {}\n", folder);
  Table table(
      {"kernel", ">registers", ">stack", ">spills", ">static smem", ">binary", ">compile", "compiler", "remark"});
  for (const CompiledKernel& kernel : stored_kernels(folder)) {
    if (!matches(options, kernel.name)) continue;
    table.add({kernel.name, fmt::format("{}", kernel.registers), fmt::format("{} B", kernel.stack_bytes),
               fmt::format("{} B", kernel.spill_bytes), fmt::format("{} B", kernel.static_smem_bytes),
               fmt::format("{} KiB", kernel.binary.size() / 1024), duration_text(kernel.compile_ms * 1e-3),
               kernel.compiler, std::string(kernel.flaw())});
  }
  if (table.empty())
    fmt::print("none{}\n", options.match.empty() ? "; hstu-tune warm WORKLOAD makes some" : " that match");
  else
    table.print();
}

void show_logs(const Options& options, const std::string& folder) {
  if (folder.empty()) return;
  for (const CompiledKernel& kernel : stored_kernels(folder))
    if (matches(options, kernel.name))
      fmt::print("==== {}\n{}\n", escaped(kernel.name), escaped(kernel.log, Lines::many));
}

int execute(const Options& options) {
  const ContextOptions store = context_options(options.store, "cpu");
  const bool both = !options.records && !options.kernels && !options.log;
  if (options.records || both) show_records(options, store);
  for (const std::string& folder : {store.store_path, store.system_store_path}) {
    if (options.kernels || both) show_kernels(options, folder);
    if (options.log) show_logs(options, folder);
  }
  return 0;
}

}  // namespace

void add_show(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("show", "List tuned records and compiled kernels");
  command.option("match", options->match, "Only what contains this text");
  command.flag("--records", options->records, "Records only");
  command.flag("--kernels", options->kernels, "Kernels only");
  command.flag("--log", options->log, "The compiler's log of every kernel");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
