#include "support/compress.hpp"

#include "support/error.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <new>

namespace hstujit {

std::string compressed(std::string_view plain) {
  constexpr int kLevel = 19;
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  const size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), plain.data(), plain.size());
  if (ZSTD_isError(size)) compression_failed(size, "compressing a text");
  out.resize(size);
  return out;
}

std::optional<std::string> decompressed(std::string_view bytes, uint64_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most) return std::nullopt;
  std::string out(size, '\0');
  const size_t written = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  refuse_lack_of_memory(written);
  if (ZSTD_isError(written) || written != out.size()) return std::nullopt;
  return out;
}

void refuse_lack_of_memory(size_t result) {
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
}

void compression_failed(size_t result, std::string_view doing) {
  refuse_lack_of_memory(result);
  fail(HSTU_ERROR_INTERNAL, "{}: {}", doing, ZSTD_getErrorName(result));
}

}  // namespace hstujit
