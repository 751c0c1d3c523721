#include "cuda/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace hstujit {
namespace {

std::string resolved_path(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name || !*map->l_name) return asked;
  return map->l_name;
}

}  // namespace

// The loader gives no error number: what it could not allocate shows in errno, what it could not map in its text.
void* open_library(const char* name, const char*& reason) {
  errno = 0;
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle) return handle;
  const bool no_memory = errno == ENOMEM;
  reason = dlerror();
  if (no_memory || (reason && std::strstr(reason, std::strerror(ENOMEM)))) throw std::bad_alloc();
  if (!reason) reason = "no reason given";
  return nullptr;
}

Library::Library(const LibraryRequest& request) {
  std::string tried;
  for (const std::string& candidate : request.candidates) {
    const char* reason = nullptr;
    handle_ = open_library(candidate.c_str(), reason);
    if (handle_) {
      path_ = resolved_path(handle_, candidate);
      return;
    }
    tried += fmt::format("\n  {}: {}", candidate, reason);
  }
  fail(request.status, "cannot open {}; {}. Tried:{}", request.what, request.way_out, tried);
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Library& Library::operator=(Library&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

void* Library::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace hstujit
