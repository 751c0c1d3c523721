// Stands before libc in a process under test (LD_PRELOAD): everything below the folder HSTU_FAKE_READ_ONLY refuses
// writers with EROFS, and what lies below HSTU_FAKE_NETWORK says that it is on NFS. Modes of folders would not do: root
// writes wherever it likes.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

bool below(const char* path, const char* variable) {
  const char* const folder = std::getenv(variable);
  return path && folder && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool refused(const char* path, int flags) {
  return ((flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0) && below(path, "HSTU_FAKE_READ_ONLY");
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

#define HSTU_WRAP_OPEN(name)                                               \
  int name(const char* path, int flags, ...) {                             \
    if (refused(path, flags)) return errno = EROFS, -1;                    \
    std::va_list more;                                                     \
    va_start(more, flags);                                                 \
    const mode_t mode = va_arg(more, mode_t);                              \
    va_end(more);                                                          \
    return next<int (*)(const char*, int, ...)>(#name)(path, flags, mode); \
  }
HSTU_WRAP_OPEN(open)
HSTU_WRAP_OPEN(open64)

int mkdir(const char* path, mode_t mode) {
  if (below(path, "HSTU_FAKE_READ_ONLY")) return errno = EROFS, -1;
  return next<int (*)(const char*, mode_t)>("mkdir")(path, mode);
}

int access(const char* path, int mode) {
  if ((mode & W_OK) != 0 && below(path, "HSTU_FAKE_READ_ONLY")) return errno = EROFS, -1;
  return next<int (*)(const char*, int)>("access")(path, mode);
}

int statfs(const char* path, struct statfs* info) {
  const int result = next<int (*)(const char*, struct statfs*)>("statfs")(path, info);
  if (result == 0 && below(path, "HSTU_FAKE_NETWORK")) info->f_type = NFS_SUPER_MAGIC;
  return result;
}

}  // extern "C"
