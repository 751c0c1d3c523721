// Reads .safetensors files: a JSON header with names, types, shapes and a flat map of texts, then the tensors' bytes.
#pragma once

#include <hstujit/hstujit.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit::verify {

struct StoredTensor {
  hstu_dtype dtype = HSTU_DTYPE_NONE;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  ///< row-major, aligned to the element

  int64_t elements() const;
};

class Safetensors {
 public:
  /// Throws Error{INVALID_ARGUMENT} naming the path and what is wrong with the file.
  static Safetensors read(const std::filesystem::path& path);

  Safetensors(Safetensors&&) = default;
  Safetensors& operator=(Safetensors&&) = default;
  Safetensors(const Safetensors&) = delete;

  /// Null when there is none.
  const StoredTensor* find(std::string_view name) const;
  /// An entry of the metadata; "" when there is none.
  const std::string& text(std::string_view key) const;
  const std::map<std::string, StoredTensor, std::less<>>& tensors() const { return tensors_; }
  const std::string& path() const { return path_; }

 private:
  Safetensors() = default;

  std::string path_;
  std::vector<std::byte> file_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace hstujit::verify
