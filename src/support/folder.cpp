#include "support/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

namespace hstujit {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

int errno_of(int result) { return result == 0 ? 0 : errno; }

}  // namespace

Folder::Folder(int fd) : fd_(fd), error_(fd >= 0 ? 0 : errno) {}

Folder::Folder(const std::string& path) : Folder(open(path.c_str(), kFolder)) {}

Folder Folder::inside(const std::string& name) const {
  return Folder(openat(fd_.get(), name.c_str(), kFolder | O_NOFOLLOW));
}

Folder Folder::made_inside(const std::string& name) const {
  mkdirat(fd_.get(), name.c_str(), 0777);
  return inside(name);
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  const int own_place = openat(fd_.get(), ".", kFolder);  // fdopendir takes it over
  const std::unique_ptr<DIR, CloseFolder> reading(own_place >= 0 ? fdopendir(own_place) : nullptr);
  if (!reading) {
    if (own_place >= 0) close(own_place);
    return names;
  }
  while (const dirent* entry = readdir(reading.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

int Folder::stamp_of(const std::string& name, FileStamp& out) const {
  struct stat info {};
  if (fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return EINVAL;
  out = stamp_from(info);
  return 0;
}

int Folder::touch(const std::string& name) const {
  return errno_of(utimensat(fd_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW));
}

int Folder::remove(const std::string& name) const { return errno_of(unlinkat(fd_.get(), name.c_str(), 0)); }

int Folder::link(const std::string& name, const Folder& to) const {
  return errno_of(linkat(fd_.get(), name.c_str(), to.fd_.get(), name.c_str(), 0));
}

int Folder::rename(const std::string& name, const Folder& to, const std::string& new_name) const {
  return errno_of(renameat(fd_.get(), name.c_str(), to.fd_.get(), new_name.c_str()));
}

}  // namespace hstujit
