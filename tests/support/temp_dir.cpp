#include "support/temp_dir.hpp"

#include <cstdlib>
#include <stdexcept>

namespace hstujit::test {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "hstujit-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed for " + name);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, std::filesystem::perm_options::add, ignored);
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hstujit::test
