// The repository, for tests that read files of it: where it was built, else the current folder (a build carried to
// another machine is started from the repository's root).
#pragma once

#include <filesystem>

namespace hstujit::test {

std::filesystem::path source_dir();

}  // namespace hstujit::test
