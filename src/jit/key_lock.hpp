// One lock per kernel across the processes that share a store: a byte of one file, locked on the open file description,
// so the kernel releases it however the holder ends and no lock files pile up.
#pragma once

#include "support/files.hpp"
#include "support/hash.hpp"

#include <sys/types.h>

#include <string>

namespace hstujit {

class KeyLock {
 public:
  enum class State {
    held,         ///< ours until destruction
    busy,         ///< somebody else's; try again
    unavailable,  ///< this file system cannot lock, or the file cannot be opened: go on without
  };

  /// Does not lock yet. `file` is created if need be, not its folder; a link in its place is not followed.
  KeyLock(const std::string& file, const Digest& key);
  KeyLock(KeyLock&&) = default;
  KeyLock& operator=(KeyLock&&) = delete;
  ~KeyLock();

  State try_acquire();

 private:
  int set(short type);

  Fd fd_;
  int64_t byte_;
  pid_t held_by_ = 0;
};

}  // namespace hstujit
