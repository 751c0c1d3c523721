#include "jit/key_lock.hpp"

#include <fcntl.h>

#include <cerrno>

namespace hstujit {

KeyLock::KeyLock(const std::string& file, const Digest& key)
    : fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)),
      byte_(static_cast<int64_t>(key.low >> 2)) {}

KeyLock::State KeyLock::try_acquire() {
  if (!fd_) return State::unavailable;
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = byte_;
  range.l_len = 1;
  if (fcntl(fd_.get(), F_OFD_SETLK, &range) == 0) return State::held;
  return errno == EAGAIN || errno == EACCES ? State::busy : State::unavailable;
}

}  // namespace hstujit
