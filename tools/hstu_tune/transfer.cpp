// export and import: tuned records as canonical JSON text, to review, ship and merge.
#include "hstu_tune/command.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstring>

namespace hstujit::tool {
namespace {

struct Options {
  std::string file;
  bool everything = false;
  StoreChoice store;
};

RecordsOptions records_options(const StoreChoice& store) {
  const ContextOptions options = context_options(store, "cpu");
  return {options.store_path, options.system_store_path, {}};
}

int export_records(const Options& options) {
  const Records records(records_options(options.store));
  const std::string text = records.export_text(options.everything ? ExportKind::everything : ExportKind::winners);
  if (options.file == "-") return fmt::print("{}", text), 0;
  if (const int error = publish_file(options.file, text))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", options.file, std::strerror(error));
  fmt::print("{} records in {}\n", records.winners()->size(), options.file);
  return 0;
}

int import_records(const Options& options) {
  std::string text;
  if (const int error = read_file(options.file, text))
    throw UsageError(fmt::format("{}: cannot be read: {}", options.file, std::strerror(error)));
  Records records(records_options(options.store));
  const bool database = text.starts_with("SQLite format 3");
  const Added added = database ? records.merge(options.file) : records.import_text(text);
  fmt::print("{} jobs and {} trials added; {} tuned problems\n", added.jobs, added.trials, records.winners()->size());
  if (records.durable()) return 0;
  fmt::print(stderr, "hstu-tune: the store cannot be written, so nothing was kept; see hstu-tune doctor\n");
  return 1;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("export", "Write tuned records as JSON");
  command->add_option("file", options->file, "File to write; - for standard output")->required();
  command->add_flag("--all", options->everything, "Every trial, not only what decided");
  add_store_option(*command, options->store);
  command->callback([&action, options] { action = [options] { return export_records(*options); }; });
}

void add_import(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "Merge records from an export or from another store's tuner.db");
  command->add_option("file", options->file, "File to read")->required();
  add_store_option(*command, options->store);
  command->callback([&action, options] { action = [options] { return import_records(*options); }; });
}

}  // namespace hstujit::tool
