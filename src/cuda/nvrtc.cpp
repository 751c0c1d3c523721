#include "cuda/nvrtc.hpp"

#include "support/env.hpp"
#include "support/forks.hpp"
#include "support/process_end.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>

namespace hstujit {
namespace {

// Architectures of CUDA 13.0's NVRTC; those up to 90 are in every version this library supports.
constexpr int kKnownArchs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
constexpr int kNewestCommonArch = 90;

size_t aligned4(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

/// Bytes of a library that is open.
struct BuildId {
  const unsigned char* bytes = nullptr;
  size_t count = 0;

  std::string hex() const { return fmt::format("{:02x}", fmt::join(bytes, bytes + count, "")); }
};

// The build id among one segment's notes.
BuildId build_id_of(const char* notes, size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const size_t name_bytes = aligned4(header.n_namesz), size = sizeof header + name_bytes + aligned4(header.n_descsz);
    if (size > bytes) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && !std::memcmp(notes + sizeof header, "GNU", 4))
      return {reinterpret_cast<const unsigned char*>(notes) + sizeof header + name_bytes, header.n_descsz};
    notes += size;
    bytes -= size;
  }
  return {};
}

struct BuildIdSearch {
  const void* symbol;  // of the library that is looked for
  BuildId found;
};

bool contains(const dl_phdr_info& object, const void* address) {
  const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
  return std::any_of(object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum, [&](const ElfW(Phdr) & segment) {
    const ElfW(Addr) start = object.dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && wanted >= start && wanted < start + segment.p_memsz;
  });
}

// No exception leaves it: one that passes through the C library ends the process where there is no memory.
int search_object(dl_phdr_info* object, size_t, void* data) noexcept {
  auto& search = *static_cast<BuildIdSearch*>(data);
  if (!contains(*object, search.symbol)) return 0;
  for (int i = 0; i < object->dlpi_phnum && search.found.count == 0; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    search.found = build_id_of(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  }
  return 1;
}

// "NVRTC 13.0 <build id>". The version alone does not name the code: NVIDIA ships several builds of one version. NVRTC
// obeys NVRTC_APPEND_FLAGS behind its callers' backs, so those make another compiler of it.
std::string identity_of(const Nvrtc& nvrtc) {
  BuildIdSearch search{reinterpret_cast<const void*>(nvrtc.nvrtcVersion), {}};
  dl_iterate_phdr(search_object, &search);
  const std::string flags = Environment::read().nvrtc_flags;
  return fmt::format("NVRTC {}.{} {}{}{}", nvrtc.version / 1000, nvrtc.version % 1000 / 10,
                     search.found.count == 0 ? "without-build-id" : search.found.hex(), flags.empty() ? "" : " ",
                     flags);
}

// NVRTC opens its second library by name when it first compiles, and the loader does not look beside NVRTC for it. A
// library of that name that is open already is taken. Where there is none beside NVRTC, NVRTC itself says what it
// lacks.
void open_builtins_beside(const std::string& nvrtc_path, int major, int minor) {
  std::error_code unresolved;
  const std::filesystem::path nvrtc = std::filesystem::canonical(nvrtc_path, unresolved);
  if (unresolved == std::errc::not_enough_memory) throw std::bad_alloc();
  if (unresolved) return;
  const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
  const char* reason = nullptr;
  open_library((nvrtc.parent_path() / name).c_str(), reason);
}

std::vector<std::string> candidates_for(const std::string& path) {
  return path.empty() ? nvrtc_candidates() : std::vector<std::string>{path};
}

LibraryRequest request_for(const std::vector<std::string>& candidates) {
  return {"NVRTC, CUDA's run-time compiler", candidates, HSTU_ERROR_COMPILE,
          "install CUDA 12.8 or newer, set HSTUJIT_LIBNVRTC to its libnvrtc.so, or use a store that has the kernel"};
}

}  // namespace

std::vector<std::string> nvrtc_candidates() {
  const char* const names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
  std::vector<std::string> homes = Environment::read().cuda_homes;
  homes.push_back("/usr/local/cuda");
  std::vector<std::string> out(std::begin(names), std::end(names));
  for (const std::string& home : homes)
    for (const char* name : names) out.push_back(home + "/lib64/" + name);
  return out;
}

Nvrtc::Nvrtc(const std::string& path) : library(request_for(candidates_for(path))) {
#define HSTU_FIND(function)               \
  library.find_into(function, #function); \
  if (!function)                          \
    fail(HSTU_ERROR_COMPILE, "{} lacks {}: NVRTC of CUDA 12.8 or newer is needed", library.path(), #function);
  HSTU_NVRTC_FUNCTIONS(HSTU_FIND)
#undef HSTU_FIND
  int major = 0, minor = 0, count = 0;
  nvrtcVersion(&major, &minor);
  version = major * 1000 + minor * 10;
  open_builtins_beside(library.path(), major, minor);
  identity = identity_of(*this);
  nvrtcGetNumSupportedArchs(&count);
  archs.resize(static_cast<size_t>(count));
  nvrtcGetSupportedArchs(archs.data());
}

namespace {

/// NVRTC registers for exit() when it is opened, and more when it first compiles.
void compile_nothing(const Nvrtc& nvrtc) {
  nvrtcProgram program = nullptr;
  const nvrtcResult made =
      nvrtc.nvrtcCreateProgram(&program, "__global__ void nothing() {}", "nothing.cu", 0, nullptr, nullptr);
  if (made == NVRTC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  if (made != NVRTC_SUCCESS) return;  // the first kernel tells
  const char* const options[] = {"--gpu-architecture=sm_90a", "--no-cache"};
  nvrtc.nvrtcCompileProgram(program, nvrtc.version >= 12090 ? 2 : 1, options);
  nvrtc.nvrtcDestroyProgram(&program);
}

}  // namespace

const Nvrtc& nvrtc_at(const std::string& path) {
  static std::mutex& opening = *new std::mutex;
  static auto& opened = *new std::map<std::string, std::unique_ptr<const Nvrtc>>;
  {
    const NoForkMeanwhile whole;
    const std::lock_guard lock(opening);
    if (const auto& known = opened[path]) return *known;
  }
  const OpensBeforeExit at_once;  // waits where the process may be ending, so without the locks
  const NoForkMeanwhile whole;
  const std::lock_guard lock(opening);
  std::unique_ptr<const Nvrtc>& nvrtc = opened[path];
  if (nvrtc) return *nvrtc;
  auto fresh = std::make_unique<const Nvrtc>(path);
  compile_nothing(*fresh);
  EndsBeforeExit::come_first();
  return *(nvrtc = std::move(fresh));
}

std::string target_for(int compute_capability, std::span<const int> supported_archs) {
  int newest = 0;
  for (const int arch : supported_archs) {
    // 90's wgmma and TMA forms exist only in its own variant, which no later device runs.
    if (arch == compute_capability) return fmt::format("sm_{}{}", arch, arch == 90 ? "a" : "");
    if (arch < compute_capability) newest = std::max(newest, arch);
  }
  if (newest == 0)
    fail(HSTU_ERROR_UNSUPPORTED, "compute capability {}.{}: NVRTC compiles for {} and newer", compute_capability / 10,
         compute_capability % 10, supported_archs.empty() ? 0 : *std::ranges::min_element(supported_archs));
  return fmt::format("compute_{}", newest);
}

std::string target_of_device(int compute_capability) {
  if (compute_capability <= kNewestCommonArch) return target_for(compute_capability, kKnownArchs);
  try {
    return target_for(compute_capability, nvrtc_at(Environment::read().libnvrtc).archs);
  } catch (const Error& error) {
    if (error.status() != HSTU_ERROR_COMPILE) throw;
    return target_for(compute_capability, kKnownArchs);
  }
}

}  // namespace hstujit
