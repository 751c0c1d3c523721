// A pack: kernels and tuned records in one file that hstu-tune build makes and servers map, to compile and write
// nothing. Equal contents give equal bytes. Replace one by renaming another over it; never write into one that is in
// use.
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
  /// Maps the file and checks every byte of it. Throws Error{STORE} saying what is wrong.
  explicit Pack(const std::string& path);
  ~Pack();
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
  std::string records() const;
  const std::string& path() const { return path_; }

 private:
  friend class PackBuilder;
  struct Row;
  void check();
  std::string_view entry_of(const Row& row) const;
  const Row* begin() const;
  const Row* end() const;

  std::string path_;
  std::string_view bytes_;    ///< the mapping
  std::string_view records_;  ///< within it
  uint64_t kernels_ = 0, plain_records_bytes_ = 0;
};

/// The pack at the path; null when the path is a folder or nothing, and, with a warning in the log, when it is damaged.
std::shared_ptr<const Pack> open_pack(const std::string& path);

}  // namespace hstujit
