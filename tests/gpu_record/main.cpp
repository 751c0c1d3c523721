// gpu-record: keeps the GPU records of tests/gpu_record/. Says what is stale and what there is to run, and puts results
// into a record; tools/record_gpu.sh and tools/sanitize_gpu.sh call it.
#include "cuda/driver.hpp"
#include "gpu_record/jobs.hpp"
#include "gpu_record/merge.hpp"
#include "gpu_record/page.hpp"
#include "gpu_record/results.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>

namespace hstujit::gpu_record {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string root = ".", folder = "tests/gpu_record";
  std::string device, driver;  ///< of the record; "": those of GPU 0
  std::string test_device, list, tool;
  std::vector<std::string> files, counts, only;
  bool stale = false;
};

std::string text_of(const std::string& path) {
  std::string text;
  if (const int error = read_file(path, text))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be read: {}", path, std::strerror(error));
  return text;
}
Json json_of(const std::string& path) {
  try {
    return read_json(text_of(path));
  } catch (const Json::exception& error) { fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {}", path, error.what()); }
}
std::vector<Json> all_json_of(const std::vector<std::string>& paths) {
  std::vector<Json> all;
  std::ranges::transform(paths, std::back_inserter(all), json_of);
  return all;
}

std::string today() { return fmt::format("{:%F}", fmt::gmtime(std::time(nullptr))); }

/// Of an open record: what is there of it, and where it lies.
struct Open {
  std::string path;
  Record record;
  Sources sources;
};

Open open_record(const Options& options) {
  const std::string device = options.device.empty() ? device_facts(driver(), 0).name : options.device;
  const std::string path = (fs::path(options.folder) / file_name(device)).string();
  Record record{device, {}, {}, {}};
  if (fs::exists(path)) record = read_record(path);
  return {path, std::move(record), Sources(options.root)};
}
std::string driver_version(const Options& options) {
  return options.driver.empty() ? fmt::format("{}", driver().version) : options.driver;
}

std::string page_path(const std::string& record) { return fs::path(record).replace_extension(".md").string(); }

void write(const std::string& path, const std::string& text) {
  if (const int error = publish_file(path, text))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", path, std::strerror(error));
}

void write(Open& open) {
  write_record(open.record, open.path);
  write(page_path(open.path), page(open.record, stale_in(open.record, open.sources, promised_figures(open.sources))));
}

std::vector<std::string> records_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

/// The page of all records of the project; nothing where they lie elsewhere.
std::optional<std::string> results_text(const Options& options) {
  std::error_code unknown;
  if (!fs::equivalent(options.folder, fs::path(options.root) / "tests/gpu_record", unknown)) return {};
  std::vector<Record> records;
  for (const std::string& path : records_in(options.folder)) records.push_back(read_record(path));
  std::ranges::stable_sort(records, std::greater(), [](const Record& record) { return record.figures.size(); });
  return results_page(records, read_rivals((fs::path(options.root) / kRivals).string()));
}
std::string results_path(const Options& options) { return (fs::path(options.root) / kResults).string(); }

void write_results(const Options& options) {
  if (const auto text = results_text(options)) write(results_path(options), *text);
}

bool results_are_current(const Options& options) {
  const auto text = results_text(options);
  if (!text || (fs::exists(results_path(options)) && text_of(results_path(options)) == *text)) return true;
  fmt::print("{} is not the page of the records: gpu-record page writes it\n", results_path(options));
  return false;
}

// ---- Commands; each gives the exit code

int check(const Options& options) {
  const std::vector<std::string> paths = records_in(options.folder);
  if (paths.empty())
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} has no record: tools/record_gpu.sh takes one", options.folder);
  Sources sources(options.root);
  const std::vector<PromisedFigure> promised = promised_figures(sources);
  std::vector<Record> records;
  for (const std::string& path : paths) records.push_back(read_record(path));
  const std::string left = text(unproven(records, sources, promised), options.folder);
  fmt::print("{}", left);
  int code = left.empty() ? 0 : 1;
  for (size_t i = 0; i < paths.size(); ++i) {
    const Stale stale = stale_in(records[i], sources, promised);
    fmt::print("{}: {} figures and {} rooms of tests; of other sources, or never taken: {} and {}\n", paths[i],
               records[i].figures.size(), records[i].tests.size(), stale.figures.size(), stale.tests.size());
    if (!stale.empty()) continue;  // its page was written when less was stale
    if (!fs::exists(page_path(paths[i])) || text_of(page_path(paths[i])) != page(records[i], stale)) {
      fmt::print("{} is not the page of its record: gpu-record page writes it\n", page_path(paths[i]));
      code = 1;
    }
  }
  return results_are_current(options) ? code : 1;
}

int write_pages(const Options& options) {
  Sources sources(options.root);
  for (const std::string& path : records_in(options.folder)) {
    const Record record = read_record(path);
    write(page_path(path), page(record, stale_in(record, sources, promised_figures(sources))));
  }
  write_results(options);
  return 0;
}

// Those of the folder; the open one though it may have no file yet.
std::vector<Record> all_records(const Options& options, const Open& open) {
  std::vector<Record> records{open.record};
  for (const std::string& path : records_in(options.folder))
    if (path != open.path) records.push_back(read_record(path));
  return records;
}

int print_jobs(const Options& options) {
  Open open = open_record(options);
  const std::vector<PromisedFigure> promised = promised_figures(open.sources);
  if (!options.only.empty())
    fmt::print("{}",
               text(jobs_of_rooms({options.only.begin(), options.only.end()}, open.record, open.sources, promised)));
  else if (options.stale)
    fmt::print("{}",
               text(stale_jobs(unproven(all_records(options, open), open.sources, promised), open.sources, promised)));
  else
    fmt::print("{}", text(all_jobs(open.sources)));
  return 0;
}

int add_figures(const Options& options) {
  Open open = open_record(options);
  const std::vector<PromisedFigure> promised = promised_figures(open.sources);
  for (const std::string& file : options.files) {
    const auto ids = gpu_record::add_figures(open.record, json_of(file), today(), open.sources, promised);
    fmt::print("{}: {} figures\n", open.path, ids.size());
  }
  write(open);
  write_results(options);
  return 0;
}

int add_tests(const Options& options) {
  Open open = open_record(options);
  const TestList list(json_of(options.list));
  const auto incomplete = gpu_record::add_tests(open.record, options.test_device, list, all_json_of(options.files),
                                                {today(), driver_version(options), {}}, open.sources);
  for (const std::string& line : incomplete) fmt::print(stderr, "{}\n", line);
  write(open);
  return incomplete.empty() ? 0 : 1;
}

int add_sanitized(const Options& options) {
  Open open = open_record(options);
  const TestList list(json_of(options.list));
  gpu_record::add_sanitized(open.record, options.tool, list, all_json_of(options.files), all_json_of(options.counts),
                            {today(), driver_version(options), {}}, open.sources);
  write(open);
  return 0;
}

int print_filter(const Options& options) {
  fmt::print("{}\n", TestList(json_of(options.list)).filter({options.only.begin(), options.only.end()}));
  return 0;
}

// ---- The command line

CLI::App& command(CLI::App& program, const char* name, const char* help, int (*run)(const Options&), Options& options,
                  int& code) {
  CLI::App& added = *program.add_subcommand(name, help);
  added.callback([run, &options, &code] { code = run(options); });
  return added;
}

void add_list_option(CLI::App& command, Options& options) {
  command.add_option("--list", options.list, "What kernels_test --gtest_list_tests --gtest_output=json:FILE wrote")
      ->required();
}

void add_commands(CLI::App& program, Options& options, int& code) {
  command(program, "check", "Fail when something of a record is stale, and name it", check, options, code);
  command(program, "page", "Write the page of every record, and that of all results", write_pages, options, code);
  auto& jobs = command(program, "jobs", "What there is to run: everything, or a part", print_jobs, options, code);
  jobs.add_flag("--stale", options.stale, "What is stale, and what was never taken");
  jobs.add_option("--only", options.only, "Rooms of figures and tests")->delimiter(',');
  auto& figures = command(program, "add-figures", "Put in what bench and run measured", add_figures, options, code);
  figures.add_option("reports", options.files, "Files of hstu-tune --json")->required();
  auto& tests = command(program, "add-tests", "Put in how rooms of tests ended", add_tests, options, code);
  tests.add_option("--test-device", options.test_device, "cuda or cuda@sm_80")->required();
  add_list_option(tests, options);
  tests.add_option("outputs", options.files, "Files of --gtest_output=json, one a shard");
  auto& sanitized = command(program, "add-sanitized", "Add what ran under a sanitizer without a finding", add_sanitized,
                            options, code);
  sanitized.add_option("--tool", options.tool, "memcheck, racecheck, ...")->required();
  add_list_option(sanitized, options);
  sanitized.add_option("--counts", options.counts, "A file of $HSTUJIT_TEST_COUNTS")->allow_extra_args(false);
  sanitized.add_option("outputs", options.files, "Files of --gtest_output=json, one a shard");
  auto& filter = command(program, "filter", "The --gtest_filter of rooms of tests", print_filter, options, code);
  add_list_option(filter, options);
  filter.add_option("rooms", options.only, "None: all")->delimiter(',');
}

}  // namespace
}  // namespace hstujit::gpu_record

int main(int argc, char** argv) {
  using namespace hstujit::gpu_record;
  CLI::App program("Keeps the GPU records of tests/gpu_record/");
  Options options;
  int code = 0;
  program.add_option("--root", options.root, "The repository")->capture_default_str();
  program.add_option("--folder", options.folder, "Where records lie")->capture_default_str();
  program.add_option("--device", options.device, "The record's device, as its driver names it; else GPU 0 is asked");
  program.add_option("--driver", options.driver, "Version of its driver; else it is asked");
  program.require_subcommand(1);
  add_commands(program, options, code);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu-record: {}\n", error.what());
    return 1;
  }
  return code;
}
