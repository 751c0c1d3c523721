#include "tuner/winners_cache.hpp"

#include "support/files.hpp"
#include "support/log.hpp"
#include "tuner/tables.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

namespace hstujit {
namespace {

std::string cache_beside(const std::string& database) {
  return (std::filesystem::path(database).parent_path() / "winners.cache").string();
}

/// One line that is the same only while nobody changed the database; "" when there is no telling.
std::string state_of(TunerFile& file) {
  FileStamp stamp;
  const int64_t counter = file.connection.change_counter();
  if (counter < 0 || stamp_of(file.path, stamp) != 0) return "";
  return fmt::format("change {} of inode {}, {} bytes, modified {}\n", counter, stamp.inode, stamp.size,
                     stamp.modified_ns);
}

}  // namespace

Winners winners_of(TunerFile& file, bool keep) {
  Winners winners;
  if (!file.durable()) return read_winners(file.connection, winners), winners;
  Transaction reading(file.connection, "BEGIN");
  file.connection.number("SELECT 1 FROM winner LIMIT 1");  // from here on nobody writes
  const std::string state = state_of(file), path = cache_beside(file.path);
  std::string cached;
  if (!state.empty() && read_file(path, cached) == 0 && cached.starts_with(state))
    if (auto known = Winners::of_bytes(std::string_view(cached).substr(state.size()))) return std::move(*known);
  read_winners(file.connection, winners);
  if (keep && !state.empty() && winners.size() >= kWorthCaching)
    if (const int error = publish_file(path, state + winners.bytes()))
      log().info("tuner: {} was not written: {}", path, std::strerror(error));
  return winners;
}

}  // namespace hstujit
