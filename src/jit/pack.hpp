// A pack: kernels and tuned records in one file that hstu-tune build makes and servers read, to compile and write
// nothing. Equal contents give equal bytes. What was read and checked when it was opened is what is used, whatever
// becomes of the file.
//
//   header    64 bytes with a hash of their own and the digest of all that follows
//   index     a row per kernel, sorted by key
//   entries   one after another, as files of the kernel store hold them, see entry.hpp
//   records   exported text of tuned records, zstd
#pragma once

#include "jit/compiled_kernel.hpp"
#include "jit/kernel_key.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hstujit {

class PackBuilder {
 public:
  /// Adds a kernel; one that is there already stays. What differs from one compilation to the next (times) is left out.
  void add(const KernelKey& key, CompiledKernel kernel);
  size_t size() const { return entries_.size(); }
  /// The file's bytes. `records`: as Records::export_text gives them.
  std::string finish(std::string_view records) const;

 private:
  std::map<std::pair<Digest, Digest>, std::string> entries_;  ///< (unit key, key with compiler) -> entry
};

class Pack {
 public:
  /// Reads the file and checks every byte of it, also that what it unpacks to is bounded: kMostKernelBytes each and
  /// kMostUnpackedBytes in all. Throws Error{STORE} saying what is wrong.
  explicit Pack(const std::string& path);
  /// The same of bytes that were read; `path` is for messages.
  Pack(std::string path, std::string bytes);
  static constexpr uint64_t kMostUnpackedBytes = uint64_t{4} << 30, kMostRecordBytes = uint64_t{64} << 20;
  Pack(const Pack&) = delete;
  Pack& operator=(const Pack&) = delete;

  /// The kernel as `compiler` made it, or as any did.
  std::optional<CompiledKernel> load(const KernelKey& key, std::string_view compiler) const;
  std::optional<CompiledKernel> load_any(const KernelKey& key) const;

  struct Item {
    Digest unit;      ///< KernelKey::unit
    Digest contents;  ///< of the entry
    CompiledKernel kernel;
  };
  /// All kernels in the order of their keys.
  std::vector<Item> items() const;
  const std::string& records() const { return records_; }
  const std::string& path() const { return path_; }

 private:
  friend class PackBuilder;
  struct Row;
  void check();
  std::string_view entry_of(const Row& row) const;
  const Row* begin() const;
  const Row* end() const;

  std::string path_;
  std::string bytes_;
  uint64_t kernels_ = 0;
  std::string records_;  ///< unpacked
};

/// The pack at the path; null when the path is a folder or nothing, and, with a warning in the log, when it is damaged.
std::shared_ptr<const Pack> open_pack(const std::string& path);

}  // namespace hstujit
