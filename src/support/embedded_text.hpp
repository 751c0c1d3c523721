// Text that the build put into the library: kernel sources, the database schema and reviewed records.
#pragma once

#include <span>
#include <string_view>

namespace hstujit {

struct EmbeddedFile {
  std::string_view name;  ///< relative to its folder: "prim/mma.cuh" of kernels/
  std::string_view text;  ///< a literal, so a 0 follows it
};

std::span<const EmbeddedFile> embedded_kernels();
std::string_view embedded_schema();
/// The reviewed records of tuner_db/, "NVIDIA_H200.json", as hstu-tune export writes them.
std::span<const EmbeddedFile> embedded_records();

}  // namespace hstujit
