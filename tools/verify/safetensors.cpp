#include "verify/safetensors.hpp"

#include "operators/problem.hpp"
#include "support/error.hpp"
#include "support/json.hpp"
#include "support/json_integer.hpp"
#include "support/shown.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

namespace hstujit::verify {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

std::vector<std::byte> read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be opened", path.string());
  std::vector<std::byte> bytes(static_cast<size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be read to its end", path.string());
  return bytes;
}

hstu_dtype dtype_of(const std::string& word, const std::string& path) {
  std::string lower(word);
  std::transform(word.begin(), word.end(), lower.begin(),
                 [](char c) { return c < 'A' || c > 'Z' ? c : c - 'A' + 'a'; });
  if (const auto dtype = dtype_named(lower)) return *dtype;
  fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: dtype {} is not one of F32, F16, BF16, I32, I64", path, shown(word));
}

/// The header's JSON and the data behind it.
struct Parts {
  Json header;
  std::span<const std::byte> data;
};

Parts split(std::span<const std::byte> file, const std::string& path) {
  uint64_t length = 0;
  if (file.size() >= sizeof length) std::memcpy(&length, file.data(), sizeof length);
  if (file.size() < sizeof length || length > file.size() - sizeof length)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {} bytes cannot hold a header of {}", path, file.size(), length);
  const auto header = file.subspan(sizeof length, length);
  Json json = read_json({reinterpret_cast<const char*>(header.data()), header.size()}, nullptr, false);
  if (!json.is_object()) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: its header is not a JSON object", path);
  return {std::move(json), file.subspan(sizeof length + length)};
}

/// Number of elements; nothing for shapes that cannot be.
std::optional<int64_t> count_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return shape.size() <= HSTU_MAX_RANK ? std::optional(count) : std::nullopt;
}

template <class T>
T integer_of(const Json& value, const std::string& path) {
  if (const auto integer = integer_as<T>(value)) return *integer;
  fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {} is no extent or offset of a tensor", path, shown_json(value));
}

StoredTensor tensor_of(const Json& entry, std::span<const std::byte> data, const std::string& path) {
  StoredTensor out;
  out.dtype = dtype_of(entry.at("dtype").get<std::string>(), path);
  const Json& shape = entry.at("shape");
  if (!shape.is_array()) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {} is no shape of a tensor", path, shown_json(shape));
  for (const Json& extent : shape) out.shape.push_back(integer_of<int64_t>(extent, path));
  const auto begin = integer_of<size_t>(entry.at("data_offsets").at(0), path);
  const auto end = integer_of<size_t>(entry.at("data_offsets").at(1), path);
  if (begin > end || end > data.size())
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: a tensor's data_offsets [{}, {}) leave the file", path, begin, end);
  out.bytes = data.subspan(begin, end - begin);
  const auto size = static_cast<size_t>(size_of(out.dtype));
  const auto count = count_of(out.shape);
  if (!count || static_cast<size_t>(*count) != out.bytes.size() / size || out.bytes.size() % size != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: a tensor's shape does not fit its {} bytes", path, out.bytes.size());
  if (reinterpret_cast<uintptr_t>(out.bytes.data()) % size != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: a tensor is not aligned to its elements", path);
  return out;
}

}  // namespace

int64_t StoredTensor::elements() const { return *count_of(shape); }

Safetensors Safetensors::read(const std::filesystem::path& path) {
  Safetensors out;
  out.path_ = path.string();
  out.file_ = read_all(path);
  const Parts parts = split(out.file_, out.path_);
  try {
    for (const auto& [name, entry] : parts.header.items()) {
      if (name == "__metadata__")
        for (const auto& [key, text] : entry.items()) out.texts_.emplace(key, text.get<std::string>());
      else
        out.tensors_.emplace(name, tensor_of(entry, parts.data, out.path_));
    }
  } catch (const Json::exception& e) {
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: its header is not that of safetensors: {}", out.path_, shown_reason(e));
  }
  return out;
}

const StoredTensor* Safetensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const std::string& Safetensors::text(std::string_view key) const {
  static const std::string none;
  const auto found = texts_.find(key);
  return found == texts_.end() ? none : found->second;
}

}  // namespace hstujit::verify
