#include "jit/disk_store.hpp"

#include "jit/entry.hpp"
#include "jit/sweep.hpp"
#include "support/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace hstujit {
namespace {

constexpr std::string_view kSuffix = ".kernel";
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
    : folder_(std::move(folder)), limits_(limits), writable_(access == Access::read_write) {}

std::string DiskStore::shard(const KernelKey& key) const {
  return fmt::format("{}/kernels/{}", folder_, key.unit.hex().substr(0, 2));
}

std::string DiskStore::path(const KernelKey& key, std::string_view compiler) const {
  return fmt::format("{}/{}-{}{}", shard(key), key.unit.hex(), key.digest_with(compiler).hex().substr(0, 16), kSuffix);
}

std::optional<CompiledKernel> DiskStore::load(const KernelKey& key, std::string_view compiler) {
  return load_file(path(key, compiler), key, compiler);
}

std::optional<CompiledKernel> DiskStore::load_any(const KernelKey& key) {
  const std::string start = key.unit.hex() + "-";
  std::error_code failed;
  for (std::filesystem::directory_iterator it(shard(key), failed), end; !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(kSuffix)) continue;
    if (auto kernel = load_file(it->path().string(), key, "")) return kernel;
  }
  return std::nullopt;
}

std::optional<CompiledKernel> DiskStore::load_file(const std::string& path, const KernelKey& key,
                                                   std::string_view compiler) {
  std::string bytes;
  FileStamp stamp;
  // An I/O error says nothing about the entry: a disk or server that comes back must find it where it was.
  const int error = read_file(path, bytes, &stamp);
  if (error == EFBIG) quarantine(path, stamp);
  if (error) return std::nullopt;
  auto kernel = decode_entry(bytes, key, compiler);
  // Another version of this library wrote it for itself: no damage, and nothing for us.
  if (!kernel && !of_another_format(bytes)) quarantine(path, stamp);
  if (kernel && writable() && now_ns() - stamp.modified_ns > kStampEveryNs)
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return kernel;
}

void DiskStore::quarantine(const std::string& path, const FileStamp& damaged) {
  damaged_.fetch_add(1, std::memory_order_relaxed);
  log().warn("kernel store: {} is damaged; it will be compiled again", path);
  FileStamp now;
  // Another process may have replaced it by a sound entry since we read it.
  if (!writable() || stamp_of(path, now) != 0 || now != damaged) return;
  const std::string folder = folder_ + "/quarantine";
  make_folders(folder);
  const std::string target = fmt::format("{}/{}-{}", folder, std::filesystem::path(path).filename().string(), now_ns());
  if (rename(path.c_str(), target.c_str()) != 0) log().warn("kernel store: cannot set it aside: {}", strerror(errno));
}

void DiskStore::publish(const KernelKey& key, const CompiledKernel& kernel) {
  if (!writable()) return;
  const std::string file = path(key, kernel.compiler);
  if (const int error = publish_file(file, encode_entry(key, kernel, Packing::none))) return write_failed(file, error);
  evictions_.fetch_add(sweep_if_due(folder_, limits_), std::memory_order_relaxed);
}

std::string DiskStore::save_failure(const KernelKey& key, std::string_view text) {
  if (!writable()) return {};
  const std::string file = fmt::format("{}/failed/{}.cu", folder_, key.unit.hex());
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
