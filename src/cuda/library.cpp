#include "cuda/library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace hstujit {
namespace {

std::string resolved_path(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name || !*map->l_name) return asked;
  return map->l_name;
}

}  // namespace

Library::Library(const LibraryRequest& request) {
  std::string tried;
  for (const std::string& candidate : request.candidates) {
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      path_ = resolved_path(handle_, candidate);
      return;
    }
    const char* reason = dlerror();
    tried += fmt::format("\n  {}: {}", candidate, reason ? reason : "no reason given");
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
