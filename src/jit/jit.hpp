// Source -> CompiledKernel: from memory, else from the store, else from NVRTC; each key compiled once across the
// threads of a process and the processes that share a store.
#pragma once

#include "jit/compiled_kernel.hpp"
#include "jit/kernel_key.hpp"
#include "jit/pack.hpp"
#include "specialise/source.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hstujit {

struct JitOptions {
  std::string store_path;         ///< writable folder; "" for memory only
  std::string system_store_path;  ///< read-only folder underneath; "" for none
  std::string kernels_path;  ///< take kernel sources from this folder instead of the embedded ones; "" for embedded
  std::string nvrtc_path;    ///< libnvrtc to open; "" for the usual names
  std::shared_ptr<const Pack> pack = nullptr;  ///< read-only like the system store, and asked before it; null for none
};

struct JitCounters {
  int64_t compiles = 0, store_hits = 0, memory_hits = 0, damaged = 0, evictions = 0, compile_ns = 0, store_ns = 0;
};

/**
 * Which compiler's kernel is taken: in the writable store only what this machine's NVRTC made, so that an update of
 * NVRTC compiles anew; in a pack and the system store, which somebody shipped on purpose, what any NVRTC made, its own
 * preferred;
 * where nothing may or can be compiled (find(), no NVRTC installed), any in both. NVRTC is loaded when none of the
 * stores can answer: its identity is remembered in the writable store.
 */
class Jit {
 public:
  explicit Jit(JitOptions options);
  ~Jit();

  /// Compiles when nobody has it. Throws Error{COMPILE} with log, options and the unit's text saved beside the store.
  std::shared_ptr<const CompiledKernel> obtain(const Source& source) { return obtain(source, key_of(source)); }
  /// The same for whoever has its key_of() already.
  std::shared_ptr<const CompiledKernel> obtain(const Source& source, const KernelKey& key);
  /// What obtain() would give without compiling; null when it would compile. Does not load NVRTC.
  std::shared_ptr<const CompiledKernel> recall(const Source& source);
  /// Memory and store only; null when absent. Does not load NVRTC.
  std::shared_ptr<const CompiledKernel> find(const Source& source) { return find(key_of(source)); }
  std::shared_ptr<const CompiledKernel> find(const KernelKey& key);
  /// What the stores know the kernel by; reads no store.
  KernelKey key_of(const Source& source);
  JitCounters counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hstujit
