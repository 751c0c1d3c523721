#include "records/shipped.hpp"

#include "records/decide.hpp"
#include "records/records_text.hpp"
#include "support/error.hpp"
#include "support/log.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace hstujit {
namespace {

// How an export writes a line: one problem's jobs on one device class.
constexpr std::string_view kClass = "{\"device_class\":\"", kProblem = "\"problem\":\"", kEnd = "\"}";

/// What jobs `read` finds; none where it cannot.
std::vector<Job> jobs_unless_damaged(std::vector<Job> (*read)(std::string_view), std::string_view text) {
  try {
    return read(text);
  } catch (const Error& error) {
    log().warn("tuner: a text of records is left out: {}", error.message());
    return {};
  }
}

}  // namespace

/// Nothing for lines of another kind, the head and the foot of an export.
std::optional<ShippedRecords::Name> ShippedRecords::name_of_line(std::string_view line) {
  if (!line.starts_with(kClass) || !line.ends_with(kEnd)) return std::nullopt;
  const size_t problem = line.rfind(kProblem);
  if (problem == std::string_view::npos) return std::nullopt;
  const std::string_view from_class = line.substr(kClass.size()), from_problem = line.substr(problem + kProblem.size());
  return Name{from_class.substr(0, from_class.find('"')), from_problem.substr(0, from_problem.size() - kEnd.size())};
}

ShippedRecords::Lines ShippedRecords::indexed_lines() const {
  Lines lines;
  for (std::string_view text : texts_)
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with(',')) line.remove_suffix(1);
      if (const auto name = name_of_line(line)) lines.try_emplace(*name, line);
    }
  return lines;
}

Winners ShippedRecords::read_all() const {
  Winners all;
  for (const std::string_view exported : texts_) {
    std::map<std::pair<std::string, std::string>, std::vector<Job>> by_problem;
    for (Job& job : jobs_unless_damaged(jobs_of_text, exported))
      by_problem[{job.device_class, text(job.problem)}].push_back(std::move(job));
    for (const auto& [name, jobs] : by_problem)
      if (const auto record = decide(std::span<const Job>(jobs))) all.add(*record);
  }
  return all;
}

std::optional<Record> ShippedRecords::find(const Problem& problem, std::string_view device_class) const {
  const std::string words = text(problem);
  std::string_view line;
  {
    const std::lock_guard lock(reading_);
    if (!lines_) lines_ = indexed_lines();
    const auto found = lines_->find({device_class, words});
    if (found == lines_->end()) return std::nullopt;
    line = found->second;
  }
  const std::vector<Job> jobs = jobs_unless_damaged(jobs_of_line, line);
  return decide(std::span<const Job>(jobs));
}

const Winners& ShippedRecords::all() const {
  const std::lock_guard lock(reading_);
  if (!all_) all_ = read_all();
  return *all_;  // never changes again
}

}  // namespace hstujit
