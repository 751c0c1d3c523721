#include "support/files.hpp"

#include "support/write_signals.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>

namespace hstujit {
namespace {

// A name that no other thread, process or machine on a shared file system picks at the same time.
std::string temporary_name(const std::string& path) {
  thread_local std::mt19937_64 random{std::random_device{}() ^ static_cast<uint64_t>(now_ns())};
  return fmt::format("{}{}{}-{:016x}", path, kTemporaryMark, getpid(), random());
}

// For a descriptor that somebody else made non-blocking.
void wait_until_writable(int fd) {
  pollfd ready{fd, POLLOUT, 0};
  poll(&ready, 1, -1);
}

int write_and_flush(const std::string& path, std::string_view bytes) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return errno;
  if (const int failed = write_all(fd.get(), bytes)) return failed;
  // Without this a crash of the machine can leave a renamed file of the right size and no content.
  return fsync(fd.get()) == 0 ? 0 : errno;
}

int write_and_rename(const std::string& path, std::string_view bytes) {
  const std::string temporary = temporary_name(path);
  int failed = write_and_flush(temporary, bytes);
  if (failed == EEXIST) return failed;  // somebody else's, against all odds
  if (!failed && rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed) unlink(temporary.c_str());
  return failed;
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

FileStamp stamp_from(const struct stat& info) {
  return {info.st_size, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, info.st_ino};
}

int stamp_of(const std::string& path, FileStamp& out) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno;
  out = stamp_from(info);
  return 0;
}

int read_file(const std::string& path, std::string& out, FileStamp* stamp, int64_t most) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe in a file's place must not hang us
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return EINVAL;
  if (stamp) *stamp = stamp_from(info);
  if (info.st_size > most) return EFBIG;
  out.resize(static_cast<size_t>(info.st_size) + 1);  // one more, so that the end shows at the first read
  size_t filled = 0;
  while (true) {
    const ssize_t got = read(fd.get(), out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    filled += static_cast<size_t>(got);
    if (filled > static_cast<size_t>(most)) return EFBIG;
    if (filled == out.size()) out.resize(filled * 2);
  }
  out.resize(filled);
  return 0;
}

int make_folders(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  return failed ? failed.value() : 0;
}

int publish_file(const std::string& path, std::string_view bytes) {
  const int failed = write_and_rename(path, bytes);
  if (failed != ENOENT) return failed;
  if (const int no_folder = make_folders(std::filesystem::path(path).parent_path().string())) return no_folder;
  return write_and_rename(path, bytes);
}

int write_all(int fd, std::string_view bytes) {
  const HeldWriteSignals held;
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      wait_until_writable(fd);
      continue;
    }
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

std::optional<std::string> absolute_path(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) return path;
  std::error_code gone;
  const fs::path full = fs::absolute(path, gone);
  if (gone) return std::nullopt;
  std::string out;
  for (const fs::path& part : full.relative_path())
    if (!part.empty() && part != ".") out.append("/").append(part.native());
  return out.empty() ? "/" : out;
}

int64_t now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace hstujit
