#include "jit/pack.hpp"

#include "jit/entry.hpp"
#include "support/compress.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/log.hpp"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <type_traits>

namespace hstujit {
namespace {

constexpr char kMagic[8] = {'h', 's', 't', 'u', 'p', 'a', 'c', 'k'};
constexpr uint32_t kFormat = 1;
constexpr int64_t kMostFileBytes = int64_t{1} << 30;

// Little-endian, as every machine CUDA runs on.
struct Header {
  char magic[8];
  uint32_t format;
  uint32_t kernels;
  uint64_t file_bytes;
  uint64_t records_bytes;        // packed; they end the file
  uint64_t plain_records_bytes;  // unpacked
  uint64_t content_high, content_low;
  uint64_t header_hash;
};
static_assert(sizeof(Header) == 64 && std::is_trivially_copyable_v<Header>);

uint64_t hash_of(const Header& header) { return hash64(&header, offsetof(Header, header_hash)); }

template <class T>
std::string_view bytes_of(const T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&object), sizeof object};
}

std::string packed(std::string_view plain) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size)) compression_failed(size, "compressing records");
  out.resize(size);
  return out;
}

// Compilers print how long they took; nothing else in a log varies.
std::string without_times(std::string_view log) {
  std::string out;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size() - 1) + 1;
    const std::string_view line = log.substr(0, end);
    if (line.find("Compile time") == std::string_view::npos) out += line;
    log.remove_prefix(end);
  }
  return out;
}

std::string unpacked_records(const std::string& path, std::string_view records, uint64_t plain_bytes) {
  std::string out(plain_bytes, '\0');
  const size_t size = ZSTD_decompress(out.data(), out.size(), records.data(), records.size());
  refuse_lack_of_memory(size);
  if (ZSTD_isError(size) || size != out.size()) fail(HSTU_ERROR_STORE, "{}: its records cannot be read", path);
  return out;
}

std::string bytes_of_file(const std::string& path) {
  std::string bytes;
  if (const int error = read_file(path, bytes, nullptr, kMostFileBytes))
    fail(HSTU_ERROR_STORE, "{}: cannot be read: {}", path, strerror(error));
  bytes.shrink_to_fit();  // reading doubles
  return bytes;
}

Header header_of(const std::string& path, std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) fail(HSTU_ERROR_STORE, "{}: {} bytes are no pack", path, bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    fail(HSTU_ERROR_STORE, "{} is no pack: hstu-tune build makes them", path);
  if (header.format != kFormat)
    fail(HSTU_ERROR_STORE, "{} is a pack of format {}, this library reads {}: build it again", path, header.format,
         kFormat);
  return header;
}

}  // namespace

struct Pack::Row {
  Digest unit, full;
  uint64_t offset, bytes;
  auto key() const { return std::pair(unit, full); }
};

void PackBuilder::add(const KernelKey& key, CompiledKernel kernel) {
  kernel.compile_ms = 0;
  kernel.log = without_times(kernel.log);
  entries_.try_emplace({key.unit, key.digest_with(kernel.compiler)}, encode_entry(key, kernel, Packing::zstd));
}

std::string PackBuilder::finish(std::string_view records) const {
  static_assert(sizeof(Pack::Row) == 48 && std::is_trivially_copyable_v<Pack::Row>);
  const std::string packed_records = packed(records);
  std::string content, entries;
  const uint64_t first = sizeof(Header) + entries_.size() * sizeof(Pack::Row);
  for (const auto& [key, entry] : entries_) {
    content += bytes_of(Pack::Row{key.first, key.second, first + entries.size(), entry.size()});
    entries += entry;
  }
  content += entries + packed_records;
  const Digest check = digest(content);
  Header header{{},
                kFormat,
                static_cast<uint32_t>(entries_.size()),
                sizeof(Header) + content.size(),
                packed_records.size(),
                records.size(),
                check.high,
                check.low,
                0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.header_hash = hash_of(header);
  return std::string(bytes_of(header)) + content;
}

Pack::Pack(const std::string& path) : Pack(path, bytes_of_file(path)) {}

Pack::Pack(std::string path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) { check(); }

void Pack::check() {
  const std::string_view bytes = bytes_;
  const Header header = header_of(path_, bytes);
  const std::string_view content = bytes.substr(sizeof header);
  if (header.header_hash != hash_of(header) || header.file_bytes != bytes.size() ||
      digest(content) != Digest{header.content_high, header.content_low})
    fail(HSTU_ERROR_STORE, "{} is damaged: copy or build it again", path_);
  // What follows holds for every pack that was written whole; a forged one must not lead outside of the bytes, nor fill
  // the memory.
  kernels_ = header.kernels;
  const bool sound = uint64_t{kernels_} * sizeof(Row) <= content.size() && header.records_bytes <= content.size() &&
                     header.plain_records_bytes <= kMostRecordBytes;
  const auto inside = [&](const Row& row) {
    return row.bytes <= bytes.size() && row.offset <= bytes.size() - row.bytes;
  };
  if (!sound || !std::all_of(begin(), end(), inside) ||
      !std::is_sorted(begin(), end(), [](const Row& a, const Row& b) { return a.key() < b.key(); }))
    fail(HSTU_ERROR_STORE, "{} is inconsistent: build it again", path_);
  uint64_t unpacked = header.plain_records_bytes;
  for (const Row* row = begin(); row != end() && unpacked <= kMostUnpackedBytes; ++row)
    unpacked += kernel_bytes(entry_of(*row)).value_or(0);
  if (unpacked > kMostUnpackedBytes)
    fail(HSTU_ERROR_STORE, "{} unpacks to more than {} MiB", path_, kMostUnpackedBytes >> 20);
  records_ = unpacked_records(path_, bytes.substr(bytes.size() - header.records_bytes), header.plain_records_bytes);
}

const Pack::Row* Pack::begin() const {
  static_assert(sizeof(Header) % alignof(Row) == 0 && alignof(Row) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "the bytes lie on the heap, so rows are aligned");
  return reinterpret_cast<const Row*>(bytes_.data() + sizeof(Header));
}

const Pack::Row* Pack::end() const { return begin() + kernels_; }

std::string_view Pack::entry_of(const Row& row) const { return std::string_view(bytes_).substr(row.offset, row.bytes); }

std::optional<CompiledKernel> Pack::load(const KernelKey& key, std::string_view compiler) const {
  const std::pair wanted(key.unit, key.digest_with(compiler));
  const Row* row = std::lower_bound(begin(), end(), wanted, [](const Row& r, const auto& k) { return r.key() < k; });
  if (row == end() || row->key() != wanted) return std::nullopt;
  return decode_entry(entry_of(*row), key, compiler);
}

std::optional<CompiledKernel> Pack::load_any(const KernelKey& key) const {
  const Row* row = std::lower_bound(begin(), end(), key.unit, [](const Row& r, const Digest& k) { return r.unit < k; });
  for (; row != end() && row->unit == key.unit; ++row)
    if (auto kernel = decode_entry(entry_of(*row), key, "")) return kernel;
  return std::nullopt;
}

std::vector<Pack::Item> Pack::items() const {
  std::vector<Item> all;
  for (const Row* row = begin(); row != end(); ++row) {
    auto kernel = inspect_entry(entry_of(*row));
    if (!kernel) fail(HSTU_ERROR_STORE, "{}: the entry of {} cannot be read: build it again", path_, row->unit.hex());
    all.push_back({row->unit, digest(entry_of(*row)), std::move(*kernel)});
  }
  return all;
}

std::shared_ptr<const Pack> open_pack(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::is_regular_file(path, ignored)) return nullptr;
  try {
    return std::make_shared<const Pack>(path);
  } catch (const Error& error) {
    log().warn("pack left out: {}", error.message());
    return nullptr;
  }
}

}  // namespace hstujit
