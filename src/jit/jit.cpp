#include "jit/jit.hpp"

#include "cuda/nvrtc.hpp"
#include "jit/compiler.hpp"
#include "jit/compiler_memo.hpp"
#include "jit/disk_store.hpp"
#include "jit/kernel_memory.hpp"
#include "specialise/kernel_sources.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "support/process_end.hpp"
#include "support/ranges.hpp"
#include "support/to_integer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

namespace hstujit {
namespace {

using Kernel = std::shared_ptr<const CompiledKernel>;
using Clock = std::chrono::steady_clock;

// Longer than any compilation: a process that still holds the lock then is stuck, and compiling twice is harmless.
constexpr std::chrono::minutes kLongestWait{2};

int64_t ns_since(Clock::time_point start) { return std::chrono::nanoseconds(Clock::now() - start).count(); }

std::unique_ptr<DiskStore> open_store(const std::string& folder, DiskStore::Access access) {
  return folder.empty() ? nullptr : std::make_unique<DiskStore>(folder, access);
}

}  // namespace

struct Jit::State {
  explicit State(JitOptions asked)
      : options(std::move(asked)),
        sources(options.kernels_path),
        store(open_store(options.store_path, DiskStore::Access::read_write)),
        system_store(open_store(options.system_store_path, DiskStore::Access::read_only)) {
    if (!store) return;
    memo = std::make_unique<CompilerMemo>(options.store_path + "/compilers", options.nvrtc_path);
    compiler = memo->recall().value_or("");
  }

  Kernel find(const KernelKey& key);
  Kernel recall(const KernelKey& key);
  Kernel obtain(const Source& source, const KernelKey& key);

  Kernel look_up(const KernelKey& key, Kernel (State::*look)(const KernelKey&));
  Kernel load_exact(const KernelKey& key, const std::string& identity);
  Kernel load_shipped(const KernelKey& key);
  Kernel load_any(const KernelKey& key);
  Kernel hit(std::optional<CompiledKernel> found, const KernelKey& key, Clock::time_point start);

  std::string known_compiler();
  const Nvrtc* open_compiler();
  Kernel compile_once(const Nvrtc& nvrtc, const Source& source, const KernelKey& key);
  Kernel compile_now(const Nvrtc& nvrtc, const Source& source, const KernelKey& key);
  [[noreturn]] void report(const Error& error, const Source& source, const KernelKey& key);

  const JitOptions options;
  KernelSources sources;
  const std::unique_ptr<DiskStore> store, system_store;
  std::unique_ptr<CompilerMemo> memo;
  KernelMemory memory;
  std::mutex compiler_mutex;
  std::string compiler;          ///< identity of this machine's NVRTC as far as it is known without loading it
  std::optional<Error> missing;  ///< why NVRTC cannot be loaded; looked for once
  std::atomic<int64_t> compiles{0}, store_hits{0}, memory_hits{0}, compile_ns{0}, store_ns{0};
};

// ---- Looking in the stores

Kernel Jit::State::hit(std::optional<CompiledKernel> found, const KernelKey& key, Clock::time_point start) {
  if (!found) return nullptr;
  const int64_t took_ns = ns_since(start);
  ++store_hits;
  store_ns += took_ns;
  log().info("{}: {} hit in the store, {:.2f} ms", found->name, key.unit.hex(), static_cast<double>(took_ns) * 1e-6);
  return std::make_shared<const CompiledKernel>(std::move(*found));
}

Kernel Jit::State::load_exact(const KernelKey& key, const std::string& identity) {
  const Clock::time_point start = Clock::now();
  if (identity.empty()) return nullptr;
  if (store)
    if (Kernel kernel = hit(store->load(key, identity), key, start)) return kernel;
  if (options.pack)
    if (Kernel kernel = hit(options.pack->load(key, identity), key, start)) return kernel;
  return system_store ? hit(system_store->load(key, identity), key, start) : nullptr;
}

Kernel Jit::State::load_shipped(const KernelKey& key) {
  const Clock::time_point start = Clock::now();
  if (options.pack)
    if (Kernel kernel = hit(options.pack->load_any(key), key, start)) return kernel;
  return system_store ? hit(system_store->load_any(key), key, start) : nullptr;
}

Kernel Jit::State::load_any(const KernelKey& key) {
  const Clock::time_point start = Clock::now();
  return store ? hit(store->load_any(key), key, start) : nullptr;
}

Kernel Jit::State::find(const KernelKey& key) {
  if (Kernel kernel = recall(key)) return kernel;
  return load_any(key);
}

Kernel Jit::State::recall(const KernelKey& key) {
  if (Kernel kernel = load_exact(key, known_compiler())) return kernel;
  return load_shipped(key);
}

/// In memory, else by `look`, whose find memory keeps.
Kernel Jit::State::look_up(const KernelKey& key, Kernel (State::*look)(const KernelKey&)) {
  if (Kernel kernel = memory.find(key.unit)) {
    ++memory_hits;
    return kernel;
  }
  Kernel kernel = (this->*look)(key);
  if (kernel) memory.keep(key.unit, kernel);
  return kernel;
}

// ---- Compiling

std::string Jit::State::known_compiler() {
  const std::lock_guard lock(compiler_mutex);
  return compiler;
}

// NVRTC; null leaves the reason in `missing`.
const Nvrtc* Jit::State::open_compiler() {
  const std::lock_guard lock(compiler_mutex);
  if (missing) return nullptr;
  try {
    const Nvrtc& nvrtc = nvrtc_at(options.nvrtc_path);
    const bool news = compiler != nvrtc.identity;
    compiler = nvrtc.identity;
    if (news && memo && store->writable()) memo->remember(nvrtc.library.path(), compiler);
    return &nvrtc;
  } catch (const Error& error) {
    missing = error;
    return nullptr;
  }
}

Kernel Jit::State::obtain(const Source& source, const KernelKey& key) {
  if (Kernel kernel = recall(key)) return kernel;
  if (const Nvrtc* nvrtc = open_compiler()) return compile_once(*nvrtc, source, key);
  if (Kernel kernel = load_any(key)) return kernel;
  fail(missing->status(), "{}: not in the store, and {}", source.name, missing->message());
}

// Waits while another process compiles the same kernel; takes its result if there is one, else compiles.
Kernel Jit::State::compile_once(const Nvrtc& nvrtc, const Source& source, const KernelKey& key) {
  if (!store || !store->writable()) {
    if (Kernel kernel = load_exact(key, nvrtc.identity)) return kernel;
    return compile_now(nvrtc, source, key);
  }
  KeyLock lock = store->lock(key, nvrtc.identity);
  const Clock::time_point start = Clock::now();
  for (std::chrono::milliseconds pause{1};; pause = std::min(pause * 2, std::chrono::milliseconds(16))) {
    const KeyLock::State state = lock.try_acquire();
    // In this order: whoever held the lock before us published before it let go.
    if (Kernel kernel = load_exact(key, nvrtc.identity)) return kernel;
    if (state != KeyLock::State::busy || Clock::now() - start > kLongestWait) break;
    std::this_thread::sleep_for(pause);
  }
  return compile_now(nvrtc, source, key);
}

Kernel Jit::State::compile_now(const Nvrtc& nvrtc, const Source& source, const KernelKey& key) {
  const Range range([&] { return "compile " + source.name; });
  try {
    CompiledKernel kernel = compile(nvrtc, source, sources.closure(source.header));
    ++compiles;
    compile_ns += to_integer<int64_t>(kernel.compile_ms * 1e6);
    log().info("{}: {} miss, compiled in {:.1f} ms: {} registers{}{}", kernel.name, key.unit.hex(), kernel.compile_ms,
               kernel.registers, kernel.flaw().empty() ? "" : ", ", kernel.flaw());
    if (store) store->publish(key, kernel);
    return std::make_shared<const CompiledKernel>(std::move(kernel));
  } catch (const Error& error) {
    // What says nothing of the unit.
    if (error.status() == HSTU_ERROR_OUT_OF_MEMORY || EndsBeforeExit::asked_to_end()) throw;
    report(error, source, key);
  }
}

// The same error with the unit kept for whoever looks into it: as a file, or in the message when there is no store.
void Jit::State::report(const Error& error, const Source& source, const KernelKey& key) {
  log().info("{}: {} miss, not compiled", source.name, key.unit.hex());
  const std::string text = fmt::format("{}\n#if 0\n{}\n#endif\n", source.unit, error.message());
  const std::string file = store ? store->save_failure(key, text) : "";
  if (file.empty()) fail(error.status(), "{}\nThe unit:\n{}", error.message(), source.unit);
  fail(error.status(), "{}\nThe unit is kept in {}", error.message(), file);
}

// ---- The room's door

Jit::Jit(JitOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Jit::~Jit() = default;

std::shared_ptr<const CompiledKernel> Jit::obtain(const Source& source, const KernelKey& key) {
  bool known = false;
  Kernel kernel = state_->memory.obtain(
      key.unit, [&] { return state_->obtain(source, key); }, &known);
  if (known) ++state_->memory_hits;
  return kernel;
}

std::shared_ptr<const CompiledKernel> Jit::recall(const Source& source) {
  return state_->look_up(key_of(source), &State::recall);
}

std::shared_ptr<const CompiledKernel> Jit::find(const KernelKey& key) { return state_->look_up(key, &State::find); }

KernelKey Jit::key_of(const Source& source) { return {source, state_->sources.closure(source.header).digest}; }

JitCounters Jit::counters() const {
  const State& s = *state_;
  JitCounters out{s.compiles, s.store_hits, s.memory_hits, 0, 0, s.compile_ns, s.store_ns};
  for (const DiskStore* each : {s.store.get(), s.system_store.get()}) {
    if (!each) continue;
    out.damaged += each->damaged();
    out.evictions += each->evictions();
  }
  return out;
}

}  // namespace hstujit
