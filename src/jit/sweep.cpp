#include "jit/sweep.hpp"

#include "support/files.hpp"
#include "support/log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;
constexpr int64_t kTemporaryAgeNs = kHourNs;        // no publication takes that long
constexpr int64_t kDebrisAgeNs = 7 * 24 * kHourNs;  // long enough for somebody to look into it
constexpr size_t kMostDebris = 100;

struct File {
  std::string path;
  int64_t bytes;
  int64_t used_ns;
};

std::vector<File> files_under(const std::string& folder) {
  std::vector<File> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    FileStamp stamp;
    std::error_code ignored;
    if (it->is_regular_file(ignored) && stamp_of(it->path().string(), stamp) == 0)
      files.push_back({it->path().string(), stamp.size, stamp.modified_ns});
  }
  std::ranges::sort(files, {}, &File::used_ns);
  return files;
}

bool is_temporary(const File& file) { return file.path.find(kTemporaryMark) != std::string::npos; }

// Removes stale temporary files and, oldest first, entries beyond nine tenths of the limits.
int64_t sweep_kernels(const std::string& folder, const StoreLimits& limits) {
  std::vector<File> files = files_under(folder + "/kernels");
  std::erase_if(files, [now = now_ns()](const File& file) {
    if (is_temporary(file) && std::abs(now - file.used_ns) > kTemporaryAgeNs) unlink(file.path.c_str());
    return is_temporary(file);
  });
  int64_t bytes = 0, count = static_cast<int64_t>(files.size());
  for (const File& file : files) bytes += file.bytes;
  if (bytes <= limits.bytes && count <= limits.files) return 0;
  int64_t removed = 0;
  for (const File& file : files) {
    if (bytes <= limits.bytes / 10 * 9 && count <= limits.files / 10 * 9) break;
    if (unlink(file.path.c_str()) != 0) continue;
    bytes -= file.bytes;
    --count;
    ++removed;
  }
  log().info("kernel store {}: evicted {} kernels, kept {} ({} bytes)", folder, removed, count, bytes);
  return removed;
}

void sweep_debris(const std::string& folder) {
  const std::vector<File> files = files_under(folder);
  const size_t surplus = files.size() > kMostDebris ? files.size() - kMostDebris : 0;
  for (size_t i = 0; i < files.size(); ++i)
    if (i < surplus || now_ns() - files[i].used_ns > kDebrisAgeNs) unlink(files[i].path.c_str());
}

// True in one process at a time, and not again before limits.sweep_every is over; the stamp file carries both.
bool elected(const std::string& stamp_file, KeyLock& lock, std::chrono::seconds every) {
  FileStamp before;
  // A stamp far in the future is that of a clock which was set back since: without this nobody would sweep until then.
  const auto due = [&] {
    const int64_t age = now_ns() - before.modified_ns;
    return age >= std::chrono::nanoseconds(every).count() || age < -kHourNs;
  };
  if (stamp_of(stamp_file, before) != 0 || !due()) return false;
  if (lock.try_acquire() != KeyLock::State::held) return false;
  if (stamp_of(stamp_file, before) != 0 || !due()) return false;  // somebody finished while we looked
  return utimensat(AT_FDCWD, stamp_file.c_str(), nullptr, 0) == 0;
}

}  // namespace

int64_t sweep_if_due(const std::string& folder, const StoreLimits& limits) {
  const std::string stamp_file = folder + "/last-sweep";
  FileStamp stamp;
  const bool first = stamp_of(stamp_file, stamp) != 0;
  if (first && publish_file(stamp_file, "") != 0) return 0;
  KeyLock lock(stamp_file, Digest{});
  if (!elected(stamp_file, lock, limits.sweep_every)) return 0;
  const int64_t evicted = sweep_kernels(folder, limits);
  sweep_debris(folder + "/quarantine");
  sweep_debris(folder + "/failed");
  return evicted;
}

}  // namespace hstujit
