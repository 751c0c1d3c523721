#include "tuner/recorded_text.hpp"

#include "support/compress.hpp"
#include "support/error.hpp"
#include "support/to_integer.hpp"

#include <charconv>
#include <set>

namespace hstujit {
namespace {

constexpr std::string_view kFormat = "hstujit-space-1";
constexpr std::string_view kClockedFormat = "hstujit-space-2";
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

/// Takes what stands before the next `end` off the front.
std::string_view next(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

/// The rest of a line that begins with `word`.
std::string_view line_of(std::string_view& text, std::string_view word) {
  std::string_view line = next(text, '\n');
  if (next(line, ' ') != word || line.empty())
    fail(HSTU_ERROR_STORE, "a recorded space: its line \"{} ...\" is missing", word);
  return line;
}

template <class Number>
Number number(std::string_view word, size_t row) {
  Number value{};
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size() || value < 0)
    fail(HSTU_ERROR_STORE, "a recorded space: \"{}\" in row {} is no number from 0 on", word, row);
  return value;
}

/// A number of units, or a dash for none; 0 is one only where nothing is too short.
std::optional<double> number_or_dash(std::string_view word, double unit, size_t row, bool zero) {
  if (word == "-") return std::nullopt;
  const auto count = number<int64_t>(word, row);
  if (count == 0 && !zero) fail(HSTU_ERROR_STORE, "a recorded space: row {} took no time", row);
  return static_cast<double>(count) * unit;
}

struct Rows {
  std::vector<Config> points;
  std::vector<std::optional<double>> seconds;
  std::vector<TrialSeconds> trials;
};

Rows rows_of(std::string_view text, size_t knobs, bool clocked) {
  Rows rows;
  std::set<Config> seen;
  while (!text.empty()) {
    std::string_view line = next(text, '\n');
    Config config;
    for (size_t k = 0; k < knobs; ++k) config.value[k] = number<int32_t>(next(line, ' '), rows.points.size() + 1);
    if (!seen.insert(config).second)
      fail(HSTU_ERROR_STORE, "a recorded space: row {} repeats an earlier configuration", rows.points.size() + 1);
    rows.points.push_back(config);
    const size_t row = rows.points.size();
    rows.seconds.push_back(number_or_dash(clocked ? next(line, ' ') : line, 1e-9, row, false));
    if (!clocked) continue;
    const auto compiling = number_or_dash(next(line, ' '), 1e-6, row, true);
    rows.trials.push_back({compiling, number_or_dash(line, 1e-6, row, true)});
  }
  if (rows.points.empty()) fail(HSTU_ERROR_STORE, "a recorded space: it has no rows");
  return rows;
}

std::string units(std::optional<double> seconds, double per_second) {
  return seconds ? fmt::format("{}", to_nearest_integer<int64_t>(*seconds * per_second)) : "-";
}

}  // namespace

std::string bytes_of(const NamedSpace& space) {
  const bool clocked = !space.clock.empty();
  std::string out = fmt::format("{}\nsource {}\n", clocked ? kClockedFormat : kFormat, space.source);
  if (clocked) out += fmt::format("clock {}\n", space.clock);
  out += "knobs";
  for (const std::string& knob : space.knobs) out += ' ' + knob;
  out += '\n';
  for (size_t i = 0; i < space.recorded.space.size(); ++i) {
    const Config& config = space.recorded.space.points()[i];
    for (size_t k = 0; k < space.knobs.size(); ++k) out += fmt::format("{} ", config.value[k]);
    out += units(space.recorded.seconds[i], 1e9);
    if (clocked) {
      const TrialSeconds trial = space.recorded.trials.empty() ? TrialSeconds{} : space.recorded.trials[i];
      out += fmt::format(" {} {}", units(trial.compiling, 1e6), units(trial.measuring, 1e6));
    }
    out += '\n';
  }
  return compressed(out);
}

NamedSpace space_of_bytes(std::string_view bytes) {
  const auto plain = decompressed(bytes, kMostBytes);
  if (!plain) fail(HSTU_ERROR_STORE, "a recorded space: it is no zstd frame, damaged, or larger than 64 MiB");
  std::string_view text = *plain;
  const std::string_view format = next(text, '\n');
  const bool clocked = format == kClockedFormat;
  if (!clocked && format != kFormat)
    fail(HSTU_ERROR_STORE, "a recorded space: its first line is neither {} nor {}", kClockedFormat, kFormat);
  const std::string source(line_of(text, "source"));
  const std::string clock(clocked ? line_of(text, "clock") : "");
  std::vector<std::string> knobs;
  for (std::string_view names = line_of(text, "knobs"); !names.empty();) knobs.emplace_back(next(names, ' '));
  if (knobs.size() > kMaxKnobs)
    fail(HSTU_ERROR_STORE, "a recorded space: it has {} knobs, at most {} are possible", knobs.size(), kMaxKnobs);
  const Rows rows = rows_of(text, knobs.size(), clocked);
  std::vector<std::vector<int32_t>> values;
  for (size_t k = 0; k < knobs.size(); ++k) {
    std::set<int32_t> seen;
    for (const Config& config : rows.points) seen.insert(config.value[k]);
    values.emplace_back(seen.begin(), seen.end());
  }
  Space space(std::move(values), rows.points, rows.points.front());
  size_t row = 0;  // the space keeps the order of its points
  RecordedSpace recorded(std::move(space), [&](const Config&) { return rows.seconds[row++]; });
  recorded.trials = rows.trials;
  return {source, knobs, std::move(recorded), clock};
}

}  // namespace hstujit
