// report: what was tuned, as one HTML file: an overview, then for every problem the spread of its candidates, the
// winner against the default and the device's bound, and what earlier drivers and kernels measured.
#include "hstu_tune/command.hpp"
#include "hstu_tune/html.hpp"
#include "hstu_tune/precision_advice.hpp"
#include "hstu_tune/table.hpp"
#include "records/decide.hpp"
#include "support/error.hpp"
#include "support/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>

namespace hstujit::tool {
namespace {

struct Options {
  std::string output, workload;
  StoreChoice store;
};

/// One problem on one device class: its record, all jobs, and its work where the workload tells.
struct Chapter {
  Record record;
  std::vector<Job> jobs;
  std::optional<double> bound;  ///< seconds
  std::string advice;           ///< on the precision of its operands, or ""

  double best() const { return static_cast<double>(record.trial.timing.median_ns) * 1e-9; }
  double standard() const { return static_cast<double>(record.standard_ns) * 1e-9; }
};

std::vector<Chapter> chapters_of(const Records& records, const Traffic* traffic) {
  std::vector<Chapter> chapters;
  const std::vector<Record> all = records.winners()->all();
  for (const Record& record : all) {
    Chapter chapter{record, records.jobs(record.problem, record.device_class), std::nullopt,
                    precision_advice(record, all)};
    if (traffic)
      for (const Need& need : traffic->needs)
        if (need.problem == record.problem) chapter.bound = html::bound_seconds(need.cost, record.device_class);
    chapters.push_back(std::move(chapter));
  }
  // The largest gains in time first: that is what a reader looks for.
  std::stable_sort(chapters.begin(), chapters.end(), [](const Chapter& a, const Chapter& b) {
    return a.standard() - a.best() > b.standard() - b.best();
  });
  return chapters;
}

std::string gain_text(double standard, double best) {
  return best > 0 && standard > 0 ? fmt::format("{:.2f}x", standard / best) : "";
}

std::string bound_text(const Chapter& chapter) {
  return chapter.bound ? fmt::format("{:.0f} %", 100 * *chapter.bound / chapter.best()) : "";
}

std::string date_text(int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(seconds));
}

std::string row(std::initializer_list<std::string> cells, size_t numbers_from, std::string_view tag = "td") {
  std::string out = "<tr>";
  size_t column = 0;
  for (const std::string& cell : cells)
    out += fmt::format("<{0}{1}>{2}</{0}>", tag, column++ >= numbers_from ? " class=\"n\"" : "", cell);
  return out + "</tr>\n";
}

std::string overview(const std::vector<Chapter>& chapters) {
  std::string out = "<div class=\"wide\"><table class=\"overview\">\n";
  out += row({"problem", "device", "winner", "default", "gain", "of the bound"}, 2, "th");
  for (size_t i = 0; i < chapters.size(); ++i) {
    const Chapter& c = chapters[i];
    out += row({fmt::format("<a href=\"#p{}\"><code>{}</code></a>", i, html::escaped(text(c.record.problem))),
                html::escaped(c.record.device_class), duration_text(c.best()), duration_text(c.standard()),
                gain_text(c.standard(), c.best()), bound_text(c)},
               2);
  }
  return out + "</table></div>\n";
}

/// "182 measured, 3 wrong, 1 flawed"
std::string census(const Job& job) {
  const char* const names[] = {"complete", "abandoned as slow", "not compiled", "flawed", "wrong", "failed"};
  std::map<int, int> counts;
  for (const Trial& trial : job.trials)
    if (trial.stage == Stage::search) ++counts[static_cast<int>(trial.status)];
  std::string out;
  for (const auto& [status, count] : counts)
    if (status >= 0 && status < static_cast<int>(std::size(names)))
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, names[status]);
  return out;
}

std::string history(const Chapter& chapter) {
  std::string out = "<div class=\"wide\"><table class=\"history\">\n";
  out += row({"tuned", "driver", "compiler", "kernels", "winner", "default", "gain"}, 4, "th");
  for (const Job& job : chapter.jobs) {
    const auto decided = decide(job);
    if (!decided) continue;
    const double best = static_cast<double>(decided->trial.timing.median_ns) * 1e-9;
    const double standard = static_cast<double>(decided->standard_ns) * 1e-9;
    out += row(
        {date_text(job.started_ms), fmt::format("{}.{}", job.evidence.driver / 1000, job.evidence.driver % 1000 / 10),
         html::escaped(job.evidence.compiler.substr(0, 20)), html::escaped(job.evidence.kernels.substr(0, 8)),
         duration_text(best), duration_text(standard), gain_text(standard, best)},
        4);
  }
  return out + "</table></div>\n";
}

std::string section(const Chapter& chapter, size_t index) {
  std::string out = fmt::format("<section id=\"p{}\">\n<h2><code>{}</code></h2>\n", index,
                                html::escaped(text(chapter.record.problem)));
  out +=
      fmt::format("<p>{}: {} {}, {}, {} faster than the default{}.</p>\n", html::escaped(chapter.record.device_class),
                  html::escaped(chapter.record.trial.family), html::escaped(chapter.record.trial.config),
                  duration_text(chapter.best()), gain_text(chapter.standard(), chapter.best()),
                  chapter.bound ? fmt::format(", {} of the device's bound", bound_text(chapter)) : "");
  if (!chapter.advice.empty()) out += fmt::format("<p>{}.</p>\n", html::escaped(chapter.advice));
  for (const Job& job : chapter.jobs)
    if (job.uid == chapter.record.job) {
      out += html::candidates(job, chapter.record, chapter.bound);
      out += fmt::format("<p class=\"soft\">{}</p>\n", census(job));
    }
  return out + history(chapter) + "</section>\n";
}

std::string body_of(const std::vector<Chapter>& chapters, const std::string& store) {
  std::string out = "<h1>Tuned kernels</h1>\n";
  if (chapters.empty()) return out + "<p>Nothing is tuned yet; hstu-tune tune WORKLOAD makes records.</p>\n";
  out += fmt::format(
      "<p>{} problems in {}. Green: the winner. Orange: the default configuration. Dots: candidates, each "
      "once per stage, on a logarithmic axis. Dashed: the least time that the device's data sheet "
      "allows.</p>\n",
      chapters.size(), html::escaped(store));
  out += overview(chapters);
  for (size_t i = 0; i < chapters.size(); ++i) out += section(chapters[i], i);
  return out;
}

int execute(const Options& options) {
  const auto traffic = options.workload.empty() ? nullptr : load_traffic(options.workload);
  const ContextOptions store = context_options(options.store, "cpu");
  const Records records(
      records_options(store.store_path, store.system_store_path, open_pack(store.system_store_path).get()));
  const std::vector<Chapter> chapters = chapters_of(records, traffic.get());
  const std::string page = html::page("Tuned kernels", body_of(chapters, store.store_path));
  if (const int error = write_output(options.output, page))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", options.output, std::strerror(error));
  fmt::print("{} problems in {}\n", chapters.size(), options.output);
  return 0;
}

}  // namespace

void add_report(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("report", "Write what was tuned as one HTML file");
  command.option("output", options->output, "File to write").required();
  command.option("--workload", options->workload, "Workload whose problems are compared with the device's bound");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
