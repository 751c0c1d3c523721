// Compiled kernels in a folder, named by their content's key. Nothing that happens to the folder fails a call: damage
// is a miss, and a folder that cannot be written is remembered.
//
//   kernels/<2 digits>/<unit key>-<compiler>.kernel   entries, see entry.hpp
//   kernels.lock                                      locks of compilations under way, see key_lock.hpp
//   compilers/                                        which NVRTC this machine has, see compiler_memo.hpp
//   failed/<unit key>.cu                              units that did not compile, with their log
//   quarantine/                                       damaged entries
#pragma once

#include "jit/compiled_kernel.hpp"
#include "jit/kernel_key.hpp"
#include "jit/key_lock.hpp"
#include "support/files.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hstujit {

struct StoreLimits {
  int64_t bytes = int64_t{1} << 30;
  int64_t files = 20'000;
  std::chrono::seconds sweep_every = std::chrono::hours(1);
};

class DiskStore {
 public:
  enum class Access { read_write, read_only };

  DiskStore(std::string folder, Access access, StoreLimits limits = {});

  /// The kernel as `compiler` made it.
  std::optional<CompiledKernel> load(const KernelKey& key, std::string_view compiler);
  /// The kernel whichever compiler made it.
  std::optional<CompiledKernel> load_any(const KernelKey& key);

  /// Keeps the kernel, unless the folder cannot be written, which is counted (support/unkept.hpp); at times evicts what
  /// was not used for longest.
  void publish(const KernelKey& key, const CompiledKernel& kernel);

  /// Keeps the text of a unit that did not compile; its path, or "" when it cannot be kept.
  std::string save_failure(const KernelKey& key, std::string_view text);

  /// The lock that whoever compiles the kernel holds.
  KeyLock lock(const KernelKey& key, std::string_view compiler);

  /// False for a read-only store and once writing has failed for a lasting reason.
  bool writable() const { return writable_.load(std::memory_order_relaxed); }
  const std::string& folder() const { return folder_; }
  /// Entries that this object found damaged, and removed to keep the limits.
  int64_t damaged() const { return damaged_.load(std::memory_order_relaxed); }
  int64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }

 private:
  std::string shard(const KernelKey& key) const;
  std::optional<CompiledKernel> load_file(const std::string& name, const KernelKey& key, std::string_view compiler);
  void quarantine(const KernelKey& key, const std::string& name, const FileStamp& damaged);
  void write_failed(const std::string& path, int error);

  const std::string folder_;
  const Access access_;
  const StoreLimits limits_;
  std::atomic<bool> writable_;
  std::atomic<int64_t> damaged_{0}, evictions_{0};
};

}  // namespace hstujit
