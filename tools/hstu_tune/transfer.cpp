// export, import and merge: tuned records as canonical JSON text to review and ship, and what other stores have.
#include "hstu_tune/merge.hpp"
#include "hstu_tune/messages.hpp"
#include "jit/adopt.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/output.hpp"
#include "support/unkept.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

namespace hstujit::tool {
namespace {

struct Options {
  std::string file;
  bool everything = false;
  StoreChoice store;
};

struct MergeOptions {
  std::vector<std::string> sources;
  StoreChoice store;
};

RecordsOptions records_options(const StoreChoice& store) {
  const ContextOptions options = context_options(store, "cpu");
  return hstujit::records_options(options.store_path, options.system_store_path,
                                  open_pack(options.system_store_path).get());
}

int export_records(const Options& options) {
  const Records records(records_options(options.store));
  const std::string text = records.export_text(options.everything ? ExportKind::everything : ExportKind::winners);
  if (options.file == "-") return fmt::print("{}", text), 0;
  if (const int error = write_output(options.file, text))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", options.file, std::strerror(error));
  fmt::print("{} records in {}\n", records.winners()->size(), options.file);
  return 0;
}

/// A store's folder, its tuner.db, or an export.
Added absorb(Records& records, const std::string& source) {
  const std::string file = std::filesystem::is_directory(source) ? source + "/tuner.db" : source;
  std::string text;
  if (const int error = read_file(file, text))
    throw UsageError(fmt::format("{}: cannot be read: {}", file, std::strerror(error)));
  return text.starts_with("SQLite format 3") ? records.merge(file) : records.import_text(text);
}

int said(const Records& records, const Added& added) {
  fmt::print("{} jobs and {} trials added; {} tuned problems\n", added.jobs, added.trials, records.winners()->size());
  if (records.durable()) return 0;
  if (unkept().records == 0) complain("nothing was kept: the records are in memory only");
  return 1;
}

int64_t take_over(const std::string& source, const std::string& store) {
  const AdoptedKernels adopted = adopt_kernels(source, store);
  count_unkept_kernels(adopted.lost, fmt::format("{}: {}", store, std::strerror(adopted.error)));
  return adopted.count;
}

int import_records(const Options& options) {
  Records records(records_options(options.store));
  return said(records, absorb(records, options.file));
}

}  // namespace

int merge_stores(const std::vector<std::string>& sources, const StoreChoice& store) {
  Records records(records_options(store));
  const std::string folder = context_options(store, "cpu").store_path;
  Added sum;
  int64_t kernels = 0;
  for (const std::string& source : sources) {
    const Added added = absorb(records, source);
    sum.jobs += added.jobs;
    sum.trials += added.trials;
    if (!folder.empty() && std::filesystem::is_directory(source)) kernels += take_over(source, folder);
  }
  if (kernels > 0) fmt::print("{} kernels taken over\n", kernels);
  return said(records, sum);
}

void add_merge(Command& program) {
  auto options = std::make_shared<MergeOptions>();
  Command command =
      program.subcommand("merge", "Add the records and kernels of other stores, in any order and as often as you like");
  command.option("sources", options->sources, "Folders of stores, their tuner.db, or exports").required();
  add_store_option(command, options->store);
  command.runs([options] { return merge_stores(options->sources, options->store); });
}

void add_export(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("export", "Write tuned records as JSON");
  command.option("file", options->file, "File to write; - for standard output").required();
  command.flag("--all", options->everything, "Every trial, not only what decided");
  add_store_option(command, options->store);
  command.runs([options] { return export_records(*options); });
}

void add_import(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("import", "Merge records from an export or from another store's tuner.db");
  command.option("file", options->file, "File to read").required();
  add_store_option(command, options->store);
  command.runs([options] { return import_records(*options); });
}

}  // namespace hstujit::tool
