#include "jit/key_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace hstujit {

KeyLock::KeyLock(const std::string& file, const Digest& key)
    : fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)),
      byte_(static_cast<int64_t>(key.low >> 2)) {}

KeyLock::~KeyLock() {
  if (held_by_ == getpid() && fd_)
    set(F_UNLCK);  // a child of ours has the file open, too, and closing it is not enough
}

int KeyLock::set(short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte_;
  range.l_len = 1;
  return fcntl(fd_.get(), F_OFD_SETLK, &range);
}

KeyLock::State KeyLock::try_acquire() {
  if (!fd_) return State::unavailable;
  if (set(F_WRLCK) == 0) return held_by_ = getpid(), State::held;
  return errno == EAGAIN || errno == EACCES ? State::busy : State::unavailable;
}

}  // namespace hstujit
