#include "faults/faults.hpp"

#include <dlfcn.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

namespace hstujit::test {
namespace {

struct Plan {
  bool armed = false, lasting = false, struck = false;
  int left = 0, error = 0;
};
thread_local Plan plan;
std::atomic<bool> flushing{true};

/// The function that a wrapper stands in front of.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

Faults::Faults(int nth, int error, bool lasting) { plan = {true, lasting, false, nth, error}; }
Faults::~Faults() { plan = {}; }
bool Faults::struck() const { return plan.struck; }

void flush_nothing() { flushing = false; }

int injected_fault() {
  if (!plan.armed) return 0;
  if (plan.left-- > 0) return 0;
  if (plan.struck && !plan.lasting) return 0;
  plan.struck = true;
  return plan.error;
}

}  // namespace hstujit::test

using hstujit::test::injected_fault;
using hstujit::test::next;

#define HSTU_FAIL_IF_ASKED \
  if (const int error = injected_fault(); error != 0) return errno = error, -1

extern "C" {

#define HSTU_WRAP_OPEN(name)                                              \
  int name(const char* path, int flags, ...) {                            \
    static const auto real = next<int (*)(const char*, int, ...)>(#name); \
    HSTU_FAIL_IF_ASKED;                                                   \
    std::va_list more;                                                    \
    va_start(more, flags);                                                \
    const mode_t mode = va_arg(more, mode_t);                             \
    va_end(more);                                                         \
    return real(path, flags, mode);                                       \
  }
HSTU_WRAP_OPEN(open)
HSTU_WRAP_OPEN(open64)

int openat(int folder, const char* path, int flags, ...) {
  static const auto real = next<int (*)(int, const char*, int, ...)>("openat");
  HSTU_FAIL_IF_ASKED;
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return real(folder, path, flags, mode);
}

#define HSTU_WRAP(result, name, parameters, arguments)          \
  result name parameters {                                      \
    static const auto real = next<result(*) parameters>(#name); \
    HSTU_FAIL_IF_ASKED;                                         \
    return real arguments;                                      \
  }
HSTU_WRAP(ssize_t, read, (int fd, void* to, size_t bytes), (fd, to, bytes))
HSTU_WRAP(ssize_t, write, (int fd, const void* from, size_t bytes), (fd, from, bytes))
HSTU_WRAP(ssize_t, pread64, (int fd, void* to, size_t bytes, off64_t at), (fd, to, bytes, at))
HSTU_WRAP(ssize_t, pwrite64, (int fd, const void* from, size_t bytes, off64_t at), (fd, from, bytes, at))
HSTU_WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size))
HSTU_WRAP(int, rename, (const char* from, const char* to), (from, to))
HSTU_WRAP(int, renameat, (int from_folder, const char* from, int to_folder, const char* to),
          (from_folder, from, to_folder, to))
HSTU_WRAP(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags))

#define HSTU_WRAP_FLUSH(name)                           \
  int name(int fd) {                                    \
    static const auto real = next<int (*)(int)>(#name); \
    HSTU_FAIL_IF_ASKED;                                 \
    return hstujit::test::flushing ? real(fd) : 0;      \
  }
HSTU_WRAP_FLUSH(fsync)
HSTU_WRAP_FLUSH(fdatasync)

}  // extern "C"
