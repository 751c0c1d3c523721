// One compiled kernel as the bytes of a file: a checked header, the key's text, and the kernel.
#pragma once

#include "jit/compiled_kernel.hpp"
#include "jit/kernel_key.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hstujit {

/// How an entry holds its kernel, and so its format: unpacking takes longer than all else that is done with an entry.
enum class Packing : uint32_t {
  zstd = 1,  ///< a third of the size: for what is sent around
  none = 2,  ///< for what is read at each process's start
};

std::string encode_entry(const KernelKey& key, const CompiledKernel& kernel, Packing packing);

/// Nothing when the bytes are damaged or are not the kernel of this key. `compiler` "" accepts any.
std::optional<CompiledKernel> decode_entry(std::string_view bytes, const KernelKey& key, std::string_view compiler);

/// Whether they are sound as far as this library can tell and say that they are of a format that it does not know.
bool of_another_format(std::string_view bytes);

/// No kernel's bytes are more than this, the log among them; an entry that says so is damaged.
constexpr uint64_t kMostKernelBytes = uint64_t{64} << 20;

/// How many bytes the entry's kernel has when it is unpacked, by a header that is sound; the rest is not looked at.
std::optional<uint64_t> kernel_bytes(std::string_view bytes);

/// The kernel in an entry, whatever its key; nothing when the bytes are damaged. For listings, not for running.
std::optional<CompiledKernel> inspect_entry(std::string_view bytes);

}  // namespace hstujit
