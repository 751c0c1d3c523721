#include "support/output.hpp"

#include "support/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace hstujit {
namespace {

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Opened anew, a file behind them would be written from its beginning, over what was printed, and a socket not at all.
int own_stream(const std::string& path) {
  struct stat named {
  }, own{};
  if (stat(path.c_str(), &named) != 0) return -1;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (fstat(fd, &own) == 0 && is_same(named, own)) return fd;
  return -1;
}

int write_through(const std::string& path, std::string_view bytes) {
  if (const int own = own_stream(path); own >= 0) {
    if (own == STDOUT_FILENO && std::fflush(stdout) != 0) return errno;
    return write_all(own, bytes);
  }
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
  if (!fd) return errno;
  if (const int failed = write_all(fd.get(), bytes)) return failed;
  // What has no memory of its own cannot be flushed, and says so.
  return fsync(fd.get()) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
}

}  // namespace

int write_output(const std::string& path, std::string_view bytes) {
  struct stat info {};
  const bool there = lstat(path.c_str(), &info) == 0;
  return !there || S_ISREG(info.st_mode) ? publish_file(path, bytes) : write_through(path, bytes);
}

}  // namespace hstujit
