#include "tuner/recorded_text.hpp"

#include "support/compress.hpp"
#include "support/error.hpp"
#include "support/to_integer.hpp"

#include <charconv>
#include <set>

namespace hstujit {
namespace {

constexpr std::string_view kFormat = "hstujit-space-1";
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

struct Rows {
  std::vector<Config> points;
  std::vector<std::optional<double>> seconds;
};

Rows rows_of(std::string_view text, size_t knobs) {
  Rows rows;
  std::set<Config> seen;
  while (!text.empty()) {
    std::string_view line = next(text, '\n');
    Config config;
    for (size_t k = 0; k < knobs; ++k) config.value[k] = number<int32_t>(next(line, ' '), rows.points.size() + 1);
    if (!seen.insert(config).second)
      fail(HSTU_ERROR_STORE, "a recorded space: row {} repeats an earlier configuration", rows.points.size() + 1);
    rows.points.push_back(config);
    const bool failed = line == "-";
    const int64_t ns = failed ? 0 : number<int64_t>(line, rows.points.size());
    if (!failed && ns == 0) fail(HSTU_ERROR_STORE, "a recorded space: row {} took no time", rows.points.size());
    rows.seconds.push_back(failed ? std::nullopt : std::optional(static_cast<double>(ns) * 1e-9));
  }
  if (rows.points.empty()) fail(HSTU_ERROR_STORE, "a recorded space: it has no rows");
  return rows;
}

}  // namespace

std::string bytes_of(const NamedSpace& space) {
  std::string out = fmt::format("{}\nsource {}\nknobs", kFormat, space.source);
  for (const std::string& knob : space.knobs) out += ' ' + knob;
  out += '\n';
  for (size_t i = 0; i < space.recorded.space.size(); ++i) {
    const Config& config = space.recorded.space.points()[i];
    for (size_t k = 0; k < space.knobs.size(); ++k) out += fmt::format("{} ", config.value[k]);
    const auto seconds = space.recorded.seconds[i];
    out += seconds ? fmt::format("{}\n", to_nearest_integer<int64_t>(*seconds * 1e9)) : "-\n";
  }
  return compressed(out);
}

NamedSpace space_of_bytes(std::string_view bytes) {
  const auto plain = decompressed(bytes, kMostBytes);
  if (!plain) fail(HSTU_ERROR_STORE, "a recorded space: it is no zstd frame, damaged, or larger than 64 MiB");
  std::string_view text = *plain;
  if (next(text, '\n') != kFormat) fail(HSTU_ERROR_STORE, "a recorded space: its first line is not {}", kFormat);
  const std::string source(line_of(text, "source"));
  std::vector<std::string> knobs;
  for (std::string_view names = line_of(text, "knobs"); !names.empty();) knobs.emplace_back(next(names, ' '));
  if (knobs.size() > kMaxKnobs)
    fail(HSTU_ERROR_STORE, "a recorded space: it has {} knobs, at most {} are possible", knobs.size(), kMaxKnobs);
  const Rows rows = rows_of(text, knobs.size());
  std::vector<std::vector<int32_t>> values;
  for (size_t k = 0; k < knobs.size(); ++k) {
    std::set<int32_t> seen;
    for (const Config& config : rows.points) seen.insert(config.value[k]);
    values.emplace_back(seen.begin(), seen.end());
  }
  Space space(std::move(values), rows.points, rows.points.front());
  size_t row = 0;  // the space keeps the order of its points
  return {source, knobs, RecordedSpace(std::move(space), [&](const Config&) { return rows.seconds[row++]; })};
}

}  // namespace hstujit
