#include "records/winners_cache.hpp"

#include "support/files.hpp"
#include "support/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace hstujit {
namespace {

constexpr size_t kLongestLine = 80;

std::string cache_beside(const std::string& database) {
  return (std::filesystem::path(database).parent_path() / "winners.cache").string();
}

/// The first line of a cache.
std::string line_of(const Mark& mark) { return fmt::format("winners after change {} {}\n", mark.seq, mark.token); }

std::optional<Mark> mark_of(const std::string& line) {
  Mark mark;
  if (std::sscanf(line.c_str(), "winners after change %" SCNd64 " %" SCNd64, &mark.seq, &mark.token) != 2)
    return std::nullopt;
  return mark;
}

struct Cached {
  Winners winners;
  size_t changes;  ///< that were read from the database
};

/// The cache brought up to date, if it is of an earlier state of this database.
std::optional<Cached> cached(TunerFile& file, const std::string& path) {
  std::string bytes;
  if (read_file(path, bytes) != 0) return std::nullopt;
  const size_t line = bytes.find('\n') + 1;
  const auto mark = mark_of(bytes.substr(0, std::min(line, kLongestLine)));
  if (!mark) return std::nullopt;
  auto winners = Winners::of_bytes(std::string_view(bytes).substr(line));
  if (!winners) return std::nullopt;
  const auto changes = read_changes(file.connection, *mark, Winners(), *winners);
  return changes ? std::optional(Cached{std::move(*winners), *changes}) : std::nullopt;
}

}  // namespace

Winners winners_of(TunerFile& file, const Mark& now, bool keep) {
  constexpr size_t kManyChanges = 1000;
  Winners winners;
  if (!file.durable()) return read_winners(file.connection, winners), winners;
  const std::string path = cache_beside(file.path);
  auto known = cached(file, path);
  if (known && known->changes <= kManyChanges) return std::move(known->winners);
  if (known)
    winners = std::move(known->winners);
  else
    read_winners(file.connection, winners);
  if (keep && winners.size() >= kWorthCaching)
    if (const int error = publish_file(path, line_of(now) + winners.bytes()))
      log().info("tuner: {} was not written: {}", path, std::strerror(error));
  return winners;
}

}  // namespace hstujit
