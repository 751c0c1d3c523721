#include "jit/entry.hpp"

#include "support/compress.hpp"
#include "support/error.hpp"
#include "support/json.hpp"
#include "support/json_integer.hpp"
#include "support/thread_end.hpp"

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace hstujit {
namespace {

constexpr char kMagic[8] = {'h', 's', 't', 'u', 'k', 'r', 'n', '\n'};

// Little-endian, as every machine CUDA runs on.
struct Header {
  char magic[8];
  Packing format;
  uint32_t key_bytes;
  uint64_t packed_bytes;
  uint64_t plain_bytes;
  uint64_t content_high, content_low;  // digest of key text and packed kernel
  uint64_t reserved;
  uint64_t header_hash;  // of all above
};
static_assert(sizeof(Header) == 64 && std::is_trivially_copyable_v<Header>);

bool is_known(Packing format) { return format == Packing::zstd || format == Packing::none; }

uint64_t hash_of(const Header& header) { return hash64(&header, offsetof(Header, header_hash)); }

// Everything but the binary as JSON, preceded by its length; the binary follows.
std::string plain_form(const CompiledKernel& kernel) {
  const Json facts = {{"name", kernel.name},
                      {"target", kernel.target},
                      {"entry", kernel.entry},
                      {"log", kernel.log},
                      {"compiler", kernel.compiler},
                      {"registers", kernel.registers},
                      {"stack_bytes", kernel.stack_bytes},
                      {"spill_bytes", kernel.spill_bytes},
                      {"static_smem_bytes", kernel.static_smem_bytes},
                      {"compile_ms", kernel.compile_ms}};
  const std::string text = write_json(facts, -1, Json::error_handler_t::replace);
  const uint64_t size = text.size();
  std::string out(reinterpret_cast<const char*>(&size), sizeof size);
  return out += text, out += kernel.binary;
}

std::optional<CompiledKernel> parse_plain_form(std::string_view plain) {
  uint64_t size = 0;
  if (plain.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, plain.data(), sizeof size);
  if (size > plain.size() - sizeof size) return std::nullopt;
  try {
    const auto facts = read_json(plain.substr(sizeof size, size));
    CompiledKernel kernel;
    facts.at("name").get_to(kernel.name);
    facts.at("target").get_to(kernel.target);
    facts.at("entry").get_to(kernel.entry);
    facts.at("log").get_to(kernel.log);
    facts.at("compiler").get_to(kernel.compiler);
    const auto read = [&]<class T>(const char* key, T& out) {
      const auto integer = integer_as<T>(facts.at(key));
      if (integer) out = *integer;
      return integer && *integer >= 0;
    };
    if (!read("registers", kernel.registers) || !read("stack_bytes", kernel.stack_bytes) ||
        !read("spill_bytes", kernel.spill_bytes) || !read("static_smem_bytes", kernel.static_smem_bytes))
      return std::nullopt;
    facts.at("compile_ms").get_to(kernel.compile_ms);
    if (!(kernel.compile_ms >= 0)) return std::nullopt;
    kernel.binary = plain.substr(sizeof size + size);
    return kernel;
  } catch (const Json::exception&) { return std::nullopt; }
}

std::string packed(const std::string& plain) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size)) compression_failed(size, "compressing a kernel");
  out.resize(size);
  return out;
}

/// Of a thread: making its 160 KB anew would take longer than unpacking a kernel does.
struct Unpacker {
  Unpacker() {
    if (!context) throw std::bad_alloc();
  }
  ~Unpacker() { ZSTD_freeDCtx(context); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  ZSTD_DCtx* const context = ZSTD_createDCtx();
};

std::optional<std::string> unpacked(std::string_view bytes, uint64_t plain_bytes) {
  std::string out(plain_bytes, '\0');
  const size_t size =
      ZSTD_decompressDCtx(OfThread<Unpacker>::get().context, out.data(), out.size(), bytes.data(), bytes.size());
  refuse_lack_of_memory(size);
  if (ZSTD_isError(size) || size != plain_bytes) return std::nullopt;
  return out;
}

bool is_key_text(std::string_view text, const KernelKey& key, std::string_view compiler) {
  if (!compiler.empty()) return text == key.text_with(compiler);
  return text.starts_with(key.text) && text.substr(key.text.size()).starts_with("compiler ");
}

// The header, when it is sound and the sizes in it add up to the file's.
std::optional<Header> header_of(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const uint64_t content = bytes.size() - sizeof header;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || !is_known(header.format) ||
      header.header_hash != hash_of(header) || header.plain_bytes > kMostKernelBytes || header.key_bytes > content ||
      header.packed_bytes != content - header.key_bytes)
    return std::nullopt;
  if (header.format == Packing::none && header.packed_bytes != header.plain_bytes) return std::nullopt;
  return header;
}

// The header of an entry whose content is what was written.
std::optional<Header> sound_header(std::string_view bytes) {
  const std::optional<Header> header = header_of(bytes);
  if (!header || digest(bytes.substr(sizeof(Header))) != Digest{header->content_high, header->content_low})
    return std::nullopt;
  return header;
}

std::optional<CompiledKernel> kernel_in(std::string_view bytes, const Header& header) {
  const std::string_view payload = bytes.substr(sizeof(Header) + header.key_bytes);
  if (header.format == Packing::none) return parse_plain_form(payload);
  const auto plain = unpacked(payload, header.plain_bytes);
  return plain ? parse_plain_form(*plain) : std::nullopt;
}

}  // namespace

std::string encode_entry(const KernelKey& key, const CompiledKernel& kernel, Packing packing) {
  const std::string plain = plain_form(kernel);
  const std::string key_text = key.text_with(kernel.compiler);
  const std::string payload = packing == Packing::zstd ? packed(plain) : plain, content = key_text + payload;
  const Digest check = digest(content);
  Header header{
      {}, packing, static_cast<uint32_t>(key_text.size()), payload.size(), plain.size(), check.high, check.low, 0, 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.header_hash = hash_of(header);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + content;
}

std::optional<CompiledKernel> decode_entry(std::string_view bytes, const KernelKey& key, std::string_view compiler) {
  const std::optional<Header> header = sound_header(bytes);
  if (!header || !is_key_text(bytes.substr(sizeof(Header), header->key_bytes), key, compiler)) return std::nullopt;
  return kernel_in(bytes, *header);
}

bool of_another_format(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && !is_known(header.format) &&
         header.header_hash == hash_of(header);
}

std::optional<uint64_t> kernel_bytes(std::string_view bytes) {
  const std::optional<Header> header = header_of(bytes);
  return header ? std::optional(header->plain_bytes) : std::nullopt;
}

std::optional<CompiledKernel> inspect_entry(std::string_view bytes) {
  const std::optional<Header> header = sound_header(bytes);
  return header ? kernel_in(bytes, *header) : std::nullopt;
}

}  // namespace hstujit
