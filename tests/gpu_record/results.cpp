#include "gpu_record/results.hpp"

#include "gpu_record/page_text.hpp"
#include "gpu_record/stale.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace hstujit::gpu_record {
namespace {

const Figure* find(const Record& record, const std::string& id) {
  const auto found = std::ranges::find(record.figures, id, &Figure::id);
  return found == record.figures.end() ? nullptr : &*found;
}

/// The first figure of each name, over all records.
std::vector<const Figure*> figures_of(const std::vector<Record>& records) {
  std::vector<const Figure*> all;
  std::set<std::string> seen;
  for (const Record& record : records)
    for (const Figure& figure : record.figures)
      if (seen.insert(figure.id).second) all.push_back(&figure);
  return all;
}

/// "H200" of "NVIDIA H200".
std::string short_name(const std::string& device) {
  constexpr std::string_view kMaker = "NVIDIA ";
  return device.starts_with(kMaker) ? device.substr(kMaker.size()) : device;
}

std::string target_cells(const Figure& figure) {
  if (!figure.target) return " | ";
  return fmt::format("{:.6g} | {}", *figure.target, short_of_target(figure) ? "**short**" : "met");
}

/// Value, who, and by how much the figure of the same device is better.
std::string rival_cells(const Figure* ours, const Rival* rival) {
  if (!rival || !ours) return " | | ";
  const double times = ours->higher_is_better ? ours->value / rival->value : rival->value / ours->value;
  return fmt::format("{:g} | {} | {:.2f}", rival->value, rival->name, times);
}

struct Results {
  const std::vector<Record>& records;
  const Rivals& rivals;

  const Record* record_of_rivals() const {
    const auto found = std::ranges::find(records, rivals.device, &Record::device);
    return found == records.end() ? nullptr : &*found;
  }

  std::string head() const {
    std::string columns = "| figure | unit |", rule = "|---|---|";
    for (const Record& record : records) {
      columns += fmt::format(" {} |", short_name(record.device));
      rule += "---|";
    }
    return fmt::format("{} target | | rival | whose | × |\n{}---|---|---|---|---|\n", columns, rule);
  }

  std::string line(const Figure& figure) const {
    std::string text = fmt::format("| `{}` | {} |", figure.id, figure.unit);
    for (const Record& record : records) {
      const Figure* here = find(record, figure.id);
      text += fmt::format(" {} |", here ? rounded(here->value) : "");
    }
    const auto rival = std::ranges::find(rivals.all, figure.id, &Rival::figure);
    const Record* record = record_of_rivals();
    return text + fmt::format(" {} | {} |\n", target_cells(figure),
                              rival_cells(record ? find(*record, figure.id) : nullptr,
                                          rival == rivals.all.end() ? nullptr : &*rival));
  }
};

void check_rivals(const Results& results) {
  const Record* record = results.record_of_rivals();
  for (const Rival& rival : results.rivals.all)
    if (!record || !find(*record, rival.figure))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: figure \"{}\": the record of {} has none of this name", kRivals,
           rival.figure, results.rivals.device);
}

}  // namespace

Rivals read_rivals(const std::string& path) {
  std::string text;
  if (const int error = read_file(path, text))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be read: {}", path, std::strerror(error));
  Rivals rivals;
  try {
    const Json json = read_json(text);
    rivals.device = json.at("device");
    rivals.note = json.at("note");
    for (const Json& rival : json.at("rivals"))
      rivals.all.push_back({rival.at("figure"), rival.at("name"), rival.at("value")});
  } catch (const Json::exception& error) { fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {}", path, error.what()); }
  return rivals;
}

std::string results_page(const std::vector<Record>& records, const Rivals& rivals) {
  const Results results{records, rivals};
  check_rivals(results);
  std::string text = fmt::format(
      "# Results\n\nMade by `gpu-record page` from the records in `tests/gpu_record/` and from `{}`. Do not edit.\n\n"
      "- Data are random and L2 is cold. A value is a median of 30 runs, with the configuration as shipped.\n"
      "- A target is that of an NVIDIA H200. `met` and `short` are said of the first card that has the figure.\n"
      "- A rival was measured on an {}. × is how many times as fast ours is on that card: under 1 it is slower.\n"
      "- Chips of one model differ by up to 5 %.\n"
      "- The page of each card has the command of every figure, its date and its yardstick. It marks what is stale.\n\n"
      "Rivals: {}\n\n| card | figures | page |\n|---|---|---|\n",
      kRivals, rivals.device, rivals.note);
  for (const Record& record : records) {
    const std::string file = file_name(record.device);
    text += fmt::format("| {} | {} | [{}](../tests/gpu_record/{}.md) |\n", record.device, record.figures.size(),
                        short_name(record.device), file.substr(0, file.rfind('.')));
  }
  for (const Section& section : kSections) {
    std::string lines;
    for (const Figure* figure : figures_of(records))
      if (room_of_figure(*figure) == section.room) lines += results.line(*figure);
    if (!lines.empty()) text += fmt::format("\n## {}\n\n{}{}", section.title, results.head(), lines);
  }
  return text;
}

}  // namespace hstujit::gpu_record
