// One compiled kernel as the bytes of a file: a checked header, the key's text, and the zstd-compressed kernel.
#pragma once

#include "jit/compiled_kernel.hpp"
#include "jit/kernel_key.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hstujit {

std::string encode_entry(const KernelKey& key, const CompiledKernel& kernel);

/// Nothing when the bytes are damaged or are not the kernel of this key. `compiler` "" accepts any.
std::optional<CompiledKernel> decode_entry(std::string_view bytes, const KernelKey& key, std::string_view compiler);

/// Whether they are sound as far as this library can tell and say that they are of another format than its own.
bool of_another_format(std::string_view bytes);

/// The kernel in an entry, whatever its key; nothing when the bytes are damaged. For listings, not for running.
std::optional<CompiledKernel> inspect_entry(std::string_view bytes);

}  // namespace hstujit
