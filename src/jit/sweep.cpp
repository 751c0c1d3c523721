#include "jit/sweep.hpp"

#include "jit/store_names.hpp"
#include "support/folder.hpp"
#include "support/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace hstujit {
namespace {

constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;
constexpr int64_t kTemporaryAgeNs = kHourNs;        // no publication takes that long
constexpr int64_t kDebrisAgeNs = 7 * 24 * kHourNs;  // long enough for somebody to look into it
constexpr size_t kMostDebris = 100;
constexpr const char* kStamp = "last-sweep";

using IsOurs = bool (*)(std::string_view name);

struct File {
  std::string shard, name;
  int64_t bytes;
  int64_t used_ns;
};

/// What killed processes left of files that were to have such names.
void remove_temporaries(const Folder& folder, IsOurs is_ours) {
  for (const std::string& name : folder.names()) {
    FileStamp stamp;
    if (is_ours(store_names::published_name(name)) && folder.stamp_of(name, stamp) == 0 &&
        std::abs(now_ns() - stamp.modified_ns) > kTemporaryAgeNs)
      folder.remove(name);
  }
}

/// The folder's files that have such names. Others are neither removed nor counted, whatever they are and however old.
void add_files(const Folder& folder, const std::string& shard, IsOurs is_ours, std::vector<File>& files) {
  remove_temporaries(folder, is_ours);
  for (std::string& name : folder.names()) {
    FileStamp stamp;
    if (is_ours(name) && folder.stamp_of(name, stamp) == 0)
      files.push_back({shard, std::move(name), stamp.size, stamp.modified_ns});
  }
}

std::vector<File> entries_in(const Folder& kernels) {
  std::vector<File> files;
  for (const std::string& shard : kernels.names()) {
    if (store_names::is_shard(shard)) add_files(kernels.inside(shard), shard, store_names::is_entry, files);
  }
  std::ranges::sort(files, {}, &File::used_ns);
  return files;
}

// Removes, oldest first, entries beyond nine tenths of the limits.
int64_t sweep_kernels(const std::string& path, const Folder& store, const StoreLimits& limits) {
  const Folder kernels = store.inside("kernels");
  const std::vector<File> files = entries_in(kernels);
  int64_t bytes = 0, count = static_cast<int64_t>(files.size());
  for (const File& file : files) bytes += file.bytes;
  if (bytes <= limits.bytes && count <= limits.files) return 0;
  int64_t removed = 0;
  for (const File& file : files) {
    if (bytes <= limits.bytes / 10 * 9 && count <= limits.files / 10 * 9) break;
    if (kernels.inside(file.shard).remove(file.name) != 0) continue;
    bytes -= file.bytes;
    --count;
    ++removed;
  }
  log().info("kernel store {}: evicted {} kernels, kept {} ({} bytes)", path, removed, count, bytes);
  return removed;
}

void sweep_debris(const Folder& folder, IsOurs is_ours) {
  std::vector<File> files;
  add_files(folder, "", is_ours, files);
  std::ranges::sort(files, {}, &File::used_ns);
  const size_t surplus = files.size() > kMostDebris ? files.size() - kMostDebris : 0;
  for (size_t i = 0; i < files.size(); ++i)
    if (i < surplus || now_ns() - files[i].used_ns > kDebrisAgeNs) folder.remove(files[i].name);
}

// True in one process at a time, and not again before `every` is over; the stamp file carries both.
bool elected(const Folder& store, KeyLock& lock, std::chrono::seconds every) {
  FileStamp before;
  // A stamp far in the future is that of a clock which was set back since: without this nobody would sweep until then.
  const auto due = [&] {
    const int64_t age = now_ns() - before.modified_ns;
    return age >= std::chrono::nanoseconds(every).count() || age < -kHourNs;
  };
  if (store.stamp_of(kStamp, before) != 0 || !due()) return false;
  if (lock.try_acquire() != KeyLock::State::held) return false;
  if (store.stamp_of(kStamp, before) != 0 || !due()) return false;  // somebody finished while we looked
  return store.touch(kStamp) == 0;
}

}  // namespace

int64_t sweep_if_due(const std::string& path, const StoreLimits& limits) {
  const Folder store(path);
  FileStamp stamp;
  if (!store) return 0;
  const std::string stamp_file = path + "/" + kStamp;
  if (store.stamp_of(kStamp, stamp) != 0 && publish_file(stamp_file, "") != 0) return 0;
  KeyLock lock(stamp_file, Digest{});
  if (!elected(store, lock, limits.sweep_every)) return 0;
  const int64_t evicted = sweep_kernels(path, store, limits);
  remove_temporaries(store, store_names::is_in_root);
  remove_temporaries(store.inside("compilers"), store_names::is_memo);
  sweep_debris(store.inside("quarantine"), store_names::is_set_aside);
  sweep_debris(store.inside("failed"), store_names::is_failure);
  return evicted;
}

}  // namespace hstujit
