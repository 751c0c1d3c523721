// The repository, for tests that read files of it: where it was built, else the current folder (a build carried to
// another machine is started from the repository's root).
#pragma once

#include <filesystem>

namespace hstujit::test {

inline std::filesystem::path source_dir() {
  const std::filesystem::path built = HSTUJIT_SOURCE_DIR;
  return std::filesystem::exists(built / "kernels") ? built : std::filesystem::current_path();
}

}  // namespace hstujit::test
