#include "jit/compiler.hpp"

#include "support/error.hpp"
#include "support/forks.hpp"
#include "support/process_end.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <new>
#include <semaphore>
#include <thread>

namespace hstujit {
namespace {

using Clock = std::chrono::steady_clock;

// Far above any kernel of ours (about a second), so that only a hung compiler meets it, not a slow machine.
constexpr std::chrono::minutes kDeadline{5};
constexpr int kMostCompilations = 16;  // about 100 MB each

using Slots = std::counting_semaphore<kMostCompilations>;
std::atomic<Slots*> made_slots{nullptr};

void fill(void* slots) {
  new (slots) Slots(std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostCompilations));
}

/// A child process has the slots of its parent, and not the threads that would give them back.
void refill_in_child() {
  if (Slots* const slots = made_slots) fill(slots);
}

class CompileSlot {
 public:
  CompileSlot() { slots().acquire(); }
  ~CompileSlot() { slots().release(); }
  CompileSlot(const CompileSlot&) = delete;
  CompileSlot& operator=(const CompileSlot&) = delete;

 private:
  static Slots& slots() {
    alignas(Slots) static std::byte memory[sizeof(Slots)];
    static Slots& all = []() -> Slots& {
      in_forked_children(refill_in_child);
      fill(memory);
      return *(made_slots = reinterpret_cast<Slots*>(memory));
    }();
    return all;
  }
};

// An NVRTC program, destroyed with the scope.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const Source& source, const SourceClosure& headers) : nvrtc_(nvrtc), source_(source) {
    std::vector<const char*> names, texts;
    for (const SourceClosure::File& file : headers.files) {
      names.push_back(file.name);
      texts.push_back(file.text);
    }
    check(nvrtc.nvrtcCreateProgram(&program_, source.unit.c_str(), "unit.cu", static_cast<int>(names.size()),
                                   texts.data(), names.data()),
          "creating the program");
  }
  ~Program() { nvrtc_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void compile() {
    check(nvrtc_.nvrtcAddNameExpression(program_, source_.entry.c_str()), "asking for the entry");
    Clock::time_point give_up = Clock::now() + kDeadline;
    const auto late = [](void* deadline, void*) {
      return static_cast<int>(EndsBeforeExit::asked_to_end() ||
                              Clock::now() > *static_cast<Clock::time_point*>(deadline));
    };
    nvrtc_.nvrtcSetFlowCallback(program_, late, &give_up);
    std::vector<const char*> options;
    for (const std::string& option : source_.options) options.push_back(option.c_str());
    // From 12.9 on NVRTC keeps binaries by itself, and what it prints then differs from run to run. Keeping them is the
    // store's work, and what ptxas says of registers and spills is data.
    if (nvrtc_.version >= 12090) options.push_back("--no-cache");
    const nvrtcResult result = nvrtc_.nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
    if (result != NVRTC_SUCCESS) {
      EndsBeforeExit::refuse_if_ending();
      reject(result);
    }
  }

  std::string log() const { return text(nvrtc_.nvrtcGetProgramLogSize, nvrtc_.nvrtcGetProgramLog, "reading the log"); }
  /// Cubin, or PTX for a virtual target.
  std::string binary() const {
    if (!source_.target.starts_with("compute_"))
      return bytes(nvrtc_.nvrtcGetCUBINSize, nvrtc_.nvrtcGetCUBIN, "reading the cubin");
    return text(nvrtc_.nvrtcGetPTXSize, nvrtc_.nvrtcGetPTX, "reading the PTX");
  }
  std::string lowered_entry() const {
    const char* name = nullptr;
    check(nvrtc_.nvrtcGetLoweredName(program_, source_.entry.c_str(), &name), "asking for the entry's symbol");
    return name;
  }

 private:
  using GetSize = nvrtcResult (*)(nvrtcProgram, size_t*);
  using GetBytes = nvrtcResult (*)(nvrtcProgram, char*);

  std::string bytes(GetSize get_size, GetBytes get, const char* doing) const {
    size_t size = 0;
    check(get_size(program_, &size), doing);
    std::string out(size, '\0');
    check(get(program_, out.data()), doing);
    return out;
  }
  // The same without the terminating zero that NVRTC counts.
  std::string text(GetSize get_size, GetBytes get, const char* doing) const {
    std::string out = bytes(get_size, get, doing);
    while (!out.empty() && out.back() == '\0') out.pop_back();
    return out;
  }

  void check(nvrtcResult result, const char* doing) const {
    if (result != NVRTC_SUCCESS)
      fail(result == NVRTC_ERROR_OUT_OF_MEMORY ? HSTU_ERROR_OUT_OF_MEMORY : HSTU_ERROR_COMPILE, "{}: {}: {}",
           source_.name, doing, nvrtc_.nvrtcGetErrorString(result));
  }
  [[noreturn]] void reject(nvrtcResult result) const {
    fail(result == NVRTC_ERROR_OUT_OF_MEMORY ? HSTU_ERROR_OUT_OF_MEMORY : HSTU_ERROR_COMPILE,
         "{} does not compile ({}, {}).\nOptions: {}\nLog:\n{}", source_.name, nvrtc_.nvrtcGetErrorString(result),
         nvrtc_.identity, fmt::join(source_.options, " "), log());
  }

  const Nvrtc& nvrtc_;
  const Source& source_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

CompiledKernel compile(const Nvrtc& nvrtc, const Source& source, const SourceClosure& headers) {
  const CompileSlot slot;
  const EndsBeforeExit work;
  const Clock::time_point start = Clock::now();
  Program program(nvrtc, source, headers);
  program.compile();
  CompiledKernel kernel;
  kernel.name = source.name;
  kernel.target = source.target;
  kernel.entry = program.lowered_entry();
  kernel.binary = program.binary();
  kernel.log = program.log();
  kernel.compiler = nvrtc.identity;
  kernel.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  kernel.read_log();
  return kernel;
}

}  // namespace hstujit
