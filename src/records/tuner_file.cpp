#include "records/tuner_file.hpp"

#include "support/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

namespace hstujit {
namespace {

/// An exclusive lock beside the database; where locking does not work it is no lock, and renaming stays harmless.
class FileLock {
 public:
  FileLock(const std::string& path, Patience patience)
      : fd_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666)) {
    while (fd_ >= 0 && flock(fd_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
      if (std::chrono::steady_clock::now() >= patience) {
        ::close(fd_);
        throw DatabaseError(SQLITE_BUSY, fmt::format("another process holds {}", path));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~FileLock() {
    if (fd_ < 0) return;
    flock(fd_, LOCK_UN);  // a child that was forked meanwhile has the file open, too
    ::close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

bool is_damaged(const std::string& path, Patience patience) {
  try {
    Connection connection(path, Connection::Mode::read_only, patience);
    if (connection.number("SELECT count(*) FROM sqlite_schema") == 0) return false;  // new, being filled
    check_schema(connection);
    Statement check(connection, "PRAGMA quick_check(1)");
    return !check.step() || check.text(0) != "ok";
  } catch (const DatabaseError& e) { return e.damaged(); }
}

void make_folder_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) throw DatabaseError(SQLITE_CANTOPEN, fmt::format("creating {}: {}", folder.string(), error.message()));
  if (access(folder.c_str(), W_OK) != 0)
    throw DatabaseError(SQLITE_READONLY, fmt::format("{} cannot be written", folder.string()));
}

TunerFile open_once(const std::string& path, Patience patience) {
  TunerFile file;
  file.connection = Connection(path, Connection::Mode::writable, patience);
  if (sqlite3_db_readonly(file.connection.get(), "main") != 0)
    throw DatabaseError(SQLITE_READONLY, fmt::format("{} cannot be written", path));
  file.schema = prepare_schema(file.connection, path);
  file.path = path;
  file.process = getpid();
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) {
    file.inode = found.st_ino;
    file.device = found.st_dev;
  }
  return file;
}

}  // namespace

bool TunerFile::current() const {
  if (!durable()) return true;
  struct stat found {};
  return process == getpid() && stat(path.c_str(), &found) == 0 && found.st_ino == inode && found.st_dev == device;
}

TunerFile open_in_memory() {
  TunerFile file;
  file.connection = Connection("", Connection::Mode::memory);
  prepare_schema(file.connection, "");
  return file;
}

TunerFile open_file(const std::string& path, Patience patience) {
  make_folder_of(path);
  try {
    return open_once(path, patience);
  } catch (const DatabaseError& e) {
    if (!e.damaged()) throw;
  }
  set_aside_if_damaged(path, patience);
  return open_once(path, patience);
}

void set_aside_if_damaged(const std::string& path, Patience patience) {
  const FileLock lock(path + ".lock", patience);
  if (!is_damaged(path, patience)) return;  // another process was faster
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::string aside = fmt::format("{}.damaged-{}", path, ms);
  // The journal goes first: left behind, it would be played back into the new file.
  std::error_code no_journal, error;
  std::filesystem::rename(path + "-journal", aside + "-journal", no_journal);
  std::filesystem::rename(path, aside, error);
  if (error) throw DatabaseError(SQLITE_CANTOPEN, fmt::format("renaming {}: {}", path, error.message()));
  log().warn("tuner: {} is damaged; it is now {} and a new database takes its place", path, aside);
}

}  // namespace hstujit
