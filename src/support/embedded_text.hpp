// Text that the build put into the library: kernel sources and the database schema.
#pragma once

#include <span>
#include <string_view>

namespace hstujit {

struct EmbeddedFile {
  std::string_view name;  ///< relative to kernels/: "prim/mma.cuh"
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_kernels();
std::string_view embedded_schema();

}  // namespace hstujit
