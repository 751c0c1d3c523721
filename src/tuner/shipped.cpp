#include "tuner/shipped.hpp"

#include "support/error.hpp"
#include "support/log.hpp"
#include "tuner/decide.hpp"
#include "tuner/records_text.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>

namespace hstujit {
namespace {

/// The line, one problem's jobs on one device class, that holds both texts; "" when there is none.
std::string_view line_with(std::string_view text, std::string_view problem, std::string_view device_class) {
  for (size_t at = text.find(problem); at != std::string_view::npos; at = text.find(problem, at + 1)) {
    const size_t begin = text.rfind('\n', at) + 1;  // of none: 0
    std::string_view line = text.substr(begin, text.find('\n', at) - begin);
    if (line.find(device_class) == std::string_view::npos) continue;
    if (line.ends_with(',')) line.remove_suffix(1);
    return line;
  }
  return {};
}

/// The decisions of an exported text; nothing of one that cannot be read.
std::vector<Record> records_of(std::string_view text) {
  std::map<std::pair<std::string, std::string>, std::vector<Job>> by_problem;
  try {
    for (Job& job : jobs_of_text(text))
      by_problem[{job.device_class, hstujit::text(job.problem)}].push_back(std::move(job));
  } catch (const Error& error) { log().warn("tuner: a text of records is left out: {}", error.message()); }
  std::vector<Record> out;
  for (const auto& [name, jobs] : by_problem)
    if (auto record = decide(std::span<const Job>(jobs))) out.push_back(std::move(*record));
  return out;
}

}  // namespace

std::optional<Record> ShippedRecords::find(const Problem& problem, std::string_view device_class) const {
  const std::string problem_text = fmt::format("\"problem\":\"{}\"", text(problem));
  const std::string class_text = fmt::format("\"device_class\":\"{}\"", device_class);
  for (const std::string_view text : texts_) {
    const std::string_view line = line_with(text, problem_text, class_text);
    if (line.empty()) continue;
    auto records = records_of(export_of_line(line));
    if (!records.empty()) return std::move(records.front());
  }
  return std::nullopt;
}

const Winners& ShippedRecords::all() const {
  std::call_once(reading_, [&] {
    for (const std::string_view text : texts_)
      for (const Record& record : records_of(text)) all_.add(record);
  });
  return all_;
}

}  // namespace hstujit
