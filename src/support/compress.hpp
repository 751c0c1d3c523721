// zstd for texts that are kept: smaller files, and damage is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hstujit {

/// One zstd frame with a checksum.
std::string compressed(std::string_view plain);

/// What one frame holds; nothing for other bytes, and for more than `most` of them.
std::optional<std::string> decompressed(std::string_view bytes, uint64_t most);

/// Throws std::bad_alloc where a result of zstd's says that it had no memory: neither damage nor a defect.
void refuse_lack_of_memory(size_t result);
/// Throws what a failed compression means.
[[noreturn]] void compression_failed(size_t result, std::string_view doing);

}  // namespace hstujit
