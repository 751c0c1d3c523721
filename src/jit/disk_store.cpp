#include "jit/disk_store.hpp"

#include "jit/entry.hpp"
#include "jit/store_names.hpp"
#include "jit/sweep.hpp"
#include "support/folder.hpp"
#include "support/log.hpp"
#include "support/unkept.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace hstujit {
namespace {

// An entry's modification time says when it was last used, to a day: exact enough for eviction, and rarely a write.
constexpr int64_t kStampEveryNs = int64_t{24} * 3600 * 1'000'000'000;

// Reasons that pass by themselves (ENOENT: somebody removed the folder under our hands); all others make the store
// read-only for this process.
bool passing(int error) {
  return error == ENOENT || error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR ||
         error == EAGAIN || error == ESTALE;
}

}  // namespace

DiskStore::DiskStore(std::string folder, Access access, StoreLimits limits)
    : folder_(std::move(folder)), access_(access), limits_(limits), writable_(access == Access::read_write) {}

std::string DiskStore::shard(const KernelKey& key) const {
  return fmt::format("{}/kernels/{}", folder_, store_names::shard(key));
}

std::optional<CompiledKernel> DiskStore::load(const KernelKey& key, std::string_view compiler) {
  return load_file(store_names::entry(key, compiler), key, compiler);
}

std::optional<CompiledKernel> DiskStore::load_any(const KernelKey& key) {
  std::error_code failed;
  for (std::filesystem::directory_iterator it(shard(key), failed), end; !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().filename().string();
    if (!store_names::is_entry_of(name, key)) continue;
    if (auto kernel = load_file(name, key, "")) return kernel;
  }
  return std::nullopt;
}

std::optional<CompiledKernel> DiskStore::load_file(const std::string& name, const KernelKey& key,
                                                   std::string_view compiler) {
  const std::string path = shard(key) + "/" + name;
  std::string bytes;
  FileStamp stamp;
  // An I/O error says nothing about the entry: a disk or server that comes back must find it where it was.
  const int error = read_file(path, bytes, &stamp);
  if (error == EFBIG) quarantine(key, name, stamp);
  if (error) return std::nullopt;
  auto kernel = decode_entry(bytes, key, compiler);
  // Another version of this library wrote it for itself: no damage, and nothing for us.
  if (!kernel && !of_another_format(bytes)) quarantine(key, name, stamp);
  if (kernel && writable() && now_ns() - stamp.modified_ns > kStampEveryNs)
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return kernel;
}

// Only what lies in our own folders: a damaged file that a link led to is somebody else's to mend.
void DiskStore::quarantine(const KernelKey& key, const std::string& name, const FileStamp& damaged) {
  damaged_.fetch_add(1, std::memory_order_relaxed);
  log().warn("kernel store: {}/{} is damaged; it will be compiled again", shard(key), name);
  if (!writable()) return;
  const Folder store(folder_);
  const Folder from = store.inside("kernels").inside(store_names::shard(key));
  FileStamp now;
  // Another process may have replaced it by a sound entry since we read it.
  if (from.stamp_of(name, now) != 0 || now != damaged) return;
  const Folder to = store.made_inside("quarantine");
  const int error = to ? from.rename(name, to, store_names::set_aside(name, now_ns())) : to.error();
  if (error) log().warn("kernel store: cannot set it aside: {}", strerror(error));
}

void DiskStore::publish(const KernelKey& key, const CompiledKernel& kernel) {
  if (access_ == Access::read_only) return;
  if (!writable()) return count_unkept_kernels(1, fmt::format("{} cannot be written", folder_));
  const std::string file = shard(key) + "/" + store_names::entry(key, kernel.compiler);
  if (const int error = publish_file(file, encode_entry(key, kernel, Packing::none))) {
    count_unkept_kernels(1, fmt::format("{}: {}", file, strerror(error)));
    return write_failed(file, error);
  }
  evictions_.fetch_add(sweep_if_due(folder_, limits_), std::memory_order_relaxed);
}

std::string DiskStore::save_failure(const KernelKey& key, std::string_view text) {
  if (!writable()) return {};
  const std::string file = fmt::format("{}/failed/{}", folder_, store_names::failure(key));
  const int error = publish_file(file, text);
  if (error) write_failed(file, error);
  return error ? std::string() : file;
}

KeyLock DiskStore::lock(const KernelKey& key, std::string_view compiler) {
  make_folders(folder_);
  return KeyLock(folder_ + "/kernels.lock", key.digest_with(compiler));
}

void DiskStore::write_failed(const std::string& path, int error) {
  if (passing(error)) return log().info("kernel store: {} was not written: {}", path, strerror(error));
  if (writable_.exchange(false))
    log().warn("kernel store {} cannot be written ({}: {}): kernels compiled by this process are kept in memory only",
               folder_, path, strerror(error));
}

}  // namespace hstujit
