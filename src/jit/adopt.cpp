#include "jit/adopt.hpp"

#include "support/files.hpp"

#include <filesystem>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

bool adopt(const fs::path& entry, const fs::path& to) {
  std::error_code failed;
  if (fs::exists(to, failed) || make_folders(to.parent_path().string()) != 0) return false;
  fs::create_hard_link(entry, to, failed);
  if (!failed) return true;
  std::string bytes;
  return read_file(entry.string(), bytes) == 0 && publish_file(to.string(), bytes) == 0;
}

}  // namespace

int64_t adopt_kernels(const std::string& from, const std::string& to) {
  const fs::path entries = fs::path(from) / "kernels";
  int64_t adopted = 0;
  std::error_code failed;
  for (auto it = fs::recursive_directory_iterator(entries, failed); it != fs::recursive_directory_iterator();
       it.increment(failed)) {
    if (failed || it->path().extension() != ".kernel") continue;
    adopted += adopt(it->path(), fs::path(to) / "kernels" / it->path().lexically_relative(entries));
  }
  return adopted;
}

}  // namespace hstujit
