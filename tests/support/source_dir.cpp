#include "support/source_dir.hpp"

namespace hstujit::test {

std::filesystem::path source_dir() {
  const std::filesystem::path built = HSTUJIT_SOURCE_DIR;
  return std::filesystem::exists(built / "kernels") ? built : std::filesystem::current_path();
}

}  // namespace hstujit::test
