// A folder that is held open: what is done to the files in it cannot be led elsewhere by a link put on the way to them.
#pragma once

#include "support/files.hpp"

#include <string>
#include <vector>

namespace hstujit {

class Folder {
 public:
  /// The folder at `path`, which may lead through links: the host named it.
  explicit Folder(const std::string& path);
  /// A folder in this one; not through a link.
  Folder inside(const std::string& name) const;
  /// The same, made when absent.
  Folder made_inside(const std::string& name) const;

  /// False when it is no folder or cannot be opened; then it holds nothing, and all that is done in it fails.
  explicit operator bool() const { return static_cast<bool>(fd_); }
  /// Why it was not opened: errno, or 0.
  int error() const { return error_; }

  /// Of all that lies in it.
  std::vector<std::string> names() const;
  /// Of a regular file; 0, or errno: EINVAL for all else, links among it.
  int stamp_of(const std::string& name, FileStamp& out) const;
  /// Sets its modification time to now; 0, or errno.
  int touch(const std::string& name) const;
  int remove(const std::string& name) const;
  /// Gives the file the same name there, too; 0, or errno.
  int link(const std::string& name, const Folder& to) const;
  int rename(const std::string& name, const Folder& to, const std::string& new_name) const;

 private:
  explicit Folder(int fd);

  Fd fd_;
  int error_;
};

}  // namespace hstujit
