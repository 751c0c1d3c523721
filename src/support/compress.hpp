// zstd for texts that are kept: smaller files, and damage is noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hstujit {

/// One zstd frame with a checksum.
std::string compressed(std::string_view plain);

/// What one frame holds; nothing for other bytes, and for more than `most` of them.
std::optional<std::string> decompressed(std::string_view bytes, uint64_t most);

}  // namespace hstujit
