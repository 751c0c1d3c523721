#include "support/trust.hpp"

#include "support/error.hpp"
#include "support/log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace hstujit {
namespace {

namespace fs = std::filesystem;

/// The path without links as far as it is there.
fs::path without_links(const std::string& path) {
  std::error_code failed;
  const fs::path found = fs::weakly_canonical(path, failed);
  return failed ? fs::absolute(path, failed) : found;
}

bool is_there(const fs::path& path, struct stat& info) { return stat(path.c_str(), &info) == 0; }

bool everybody_may_write(const struct stat& info) { return (info.st_mode & S_IWOTH) != 0; }

/// Folders from the top down, each for its user alone; what goes wrong shows when something is written there.
void make_private(const fs::path& folder) {
  struct stat info {};
  if (folder.empty() || is_there(folder, info)) return;
  if (folder.has_parent_path() && folder != folder.parent_path()) make_private(folder.parent_path());
  mkdir(folder.c_str(), 0700);
}

}  // namespace

std::string doubt_about(const std::string& path) {
  fs::path at = without_links(path);
  struct stat info {};
  const bool there = is_there(at, info);
  while (!is_there(at, info) && at != at.parent_path()) at = at.parent_path();
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return fmt::format("{} belongs to another user ({})", at.string(), info.st_uid);
  if (there && everybody_may_write(info)) return fmt::format("everybody may write to {}", at.string());
  if (there) at = at.parent_path();
  for (;; at = at.parent_path()) {
    if (is_there(at, info) && everybody_may_write(info) && (info.st_mode & S_ISVTX) == 0)
      return fmt::format("everybody may exchange what is in {}", at.string());
    if (at == at.parent_path()) return "";
  }
}

std::string trusted(const std::string& path, Named named, bool strict) {
  if (path.empty()) return path;
  if (const std::string doubt = doubt_about(path); !doubt.empty()) {
    if (strict)
      fail(HSTU_ERROR_STORE, "{}: {}, and options.strict_store asks for paths that nobody else can write to", path,
           doubt);
    if (named == Named::by_default) {
      log().warn("{} is left out, so nothing is kept: {}; name a store that is to be used", path, doubt);
      return "";
    }
    log().warn("{}: {}; who can write there decides which code runs", path, doubt);
  }
  if (named == Named::by_default) make_private(path);
  return path;
}

}  // namespace hstujit
