// File access as the store needs it: whole files, errno instead of exceptions, and publication that readers see either
// completely or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct stat;

namespace hstujit {

/// Owns a file descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd();
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Size, place and age of a file: equal stamps mean that it was not replaced or rewritten.
struct FileStamp {
  int64_t size = 0;
  int64_t modified_ns = 0;  ///< since 1970
  uint64_t inode = 0;

  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_from(const struct stat& info);

/// 0, or errno.
int stamp_of(const std::string& path, FileStamp& out);

constexpr int64_t kMaxFileBytes = int64_t{256} << 20;
/// The whole file; 0, or errno. EFBIG beyond `most` bytes, EINVAL for what is not a regular file.
int read_file(const std::string& path, std::string& out, FileStamp* stamp = nullptr, int64_t most = kMaxFileBytes);

/// Creates the folder and those above it; 0, or errno.
int make_folders(const std::string& folder);

/// All of the bytes, to whatever is open there; 0, or errno: EPIPE and EFBIG come without their signals.
int write_all(int fd, std::string_view bytes);

/// The path from "/" on with single slashes, so that it means the same after chdir() and to those who read "//" as the
/// beginning of a host's name. ".." stays, as what it means depends on links. "" stays "". Nothing for a path that is
/// relative to a folder that is gone.
std::optional<std::string> absolute_path(const std::string& path);

/// Writes a file beside `path`, flushes it and renames it over `path`, creating folders as needed. 0, or errno; on
/// failure nothing is left behind. A killed process can leave a file whose name has kTemporaryMark in it.
int publish_file(const std::string& path, std::string_view bytes);
constexpr std::string_view kTemporaryMark = ".tmp-";

/// Nanoseconds since 1970, comparable with FileStamp::modified_ns.
int64_t now_ns();

}  // namespace hstujit
