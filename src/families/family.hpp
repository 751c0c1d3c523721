// A kernel family: data plus a few small functions that answer fixed questions about its template in kernels/. The
// tuner reads knobs and rules, the specialiser prints the Config, the launch fills the parameter struct. Adding a
// family means one file here, one in kernels/, one line in the list.hpp of its room.
#pragma once

#include "cuda/device.hpp"
#include "operators/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

constexpr int kMaxKnobs = 12;

/// One tunable: its name as it stands in the kernel's Config comment, the values worth trying, and why it exists.
struct Knob {
  std::string_view name;
  std::span<const int32_t> values;
  std::string_view why;
};

/// One point of a family's space: a value per knob, in the family's knob order; unused ones 0.
struct Config {
  std::array<int32_t, kMaxKnobs> value{};

  int32_t operator[](int knob) const { return value[static_cast<size_t>(knob)]; }
  int32_t& operator[](int knob) { return value[static_cast<size_t>(knob)]; }
  bool operator==(const Config&) const = default;
  auto operator<=>(const Config&) const = default;
};

/// A legality rule with its reason; heuristic, search and validation all ask the same rules.
struct Rule {
  std::string_view why;
  bool (*holds)(const Problem&, const Config&, const DeviceFacts&);
  bool for_speed = false;  ///< what it refuses would work, but slowly, or with spills
};

/// What a configuration needs, known without compiling. registers: a lower-bound estimate per thread, 0 unknown.
struct Resources {
  int threads = 0;
  int smem_bytes = 0;  ///< dynamic shared memory per block
  int registers = 0;
  int min_blocks = 1;  ///< blocks per SM the kernel is compiled for (__launch_bounds__)
  int holders = 0;     ///< threads that take so many registers, where the others give theirs away; 0: all of them
};

/// Whether an SM has shared memory for so many blocks of this size.
bool smem_holds(const DeviceFacts& device, int blocks, int smem_bytes);
/// What __launch_bounds__ leaves a thread of the registers of an SM that holds so many blocks of so many threads.
int register_budget(int blocks, int threads);

/// One launch, filled on the caller's stack. The kernel takes the params struct by value as its only parameter.
struct Launch {
  uint32_t grid[3] = {1, 1, 1};  ///< grid[0] == 0: nothing to do
  uint32_t block[3] = {1, 1, 1};
  uint32_t smem_bytes = 0;
  uint32_t cluster = 1;    ///< neighbouring blocks of the grid that share memory (sm_90); divides grid[0]
  bool dependent = false;  ///< may start before the kernel in front has ended: see Family::dependent_launch
  alignas(128) std::byte params[1792];  ///< eight tensor maps and as much again

  template <class Params>
  Params& emplace() {
    static_assert(sizeof(Params) <= sizeof(Launch::params));
    return *new (params) Params{};
  }
};

/// Prints the members of the kernel's `struct Config`, in the order of the calls.
class ConfigText {
 public:
  void type(std::string_view name, std::string_view type);  ///< using Element = bf16;
  void constant(std::string_view name, int64_t value);      ///< enum : int { kBlockM = 128 };
  void flag(std::string_view name, bool value);             ///< enum : bool { kHasTargets = true };
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

struct Family {
  std::string_view name;  ///< kernel file kernels/<room>/<name>.cuh, entry hstu::<name><hstu::Config>
  std::string_view room;  ///< of the public header that declares the operator: "attention"
  Op op;
  int min_compute_capability;
  std::span<const Knob> knobs;
  std::span<const Rule> rules;
  /// Whether the family takes the problem at all; families.cpp offers those that do, best generation first.
  bool (*covers)(const Problem&, const DeviceFacts&);
  /// A good configuration without measuring; must satisfy every rule for every covered problem.
  Config (*default_config)(const Problem&, const DeviceFacts&);
  Resources (*resources)(const Problem&, const Config&);
  /// Members of the kernel's Config: problem facts, then knobs.
  void (*write_config)(ConfigText&, const Problem&, const Config&);
  /// A device constant expression over hstu::Config equal to resources().smem_bytes; tied by static_assert. May be "".
  std::string_view smem_expression;
  /// Grid, block, shared memory and params of one call. args is the operator's public args struct, normalised (strides
  /// and defaults filled in). The hot path: no heap, no strings.
  void (*bind)(const void* args, const Problem&, const Config&, const DeviceFacts&, Launch&);
  /// Whether every block waits, as kernels/tile/dependent_launch.cuh does it, before it touches memory that an earlier
  /// kernel may write or read. Only then may the kernel be launched while the one in front still runs.
  bool dependent_launch = false;
  /// Where its params have the address of the counters of tiles (kernels/tile/tile_counter.cuh), if they have it.
  std::optional<size_t> tile_counters_at = std::nullopt;

  /// The kernel file as #include spells it: "attention/attn_fwd_sm80.cuh".
  std::string header() const;
};

/// Whether the family's kernels are launched that way on the device.
bool launches_dependently(const Family& family, const DeviceFacts& device);
/// The family's bind, and what the launch has from the family itself. tile_counters: TileCounters::address().
void bind(const Family& family, const void* args, const Problem& problem, const Config& config,
          const DeviceFacts& device, void* tile_counters, Launch& launch);

/// Whether the family has kernels for the problem on the device.
bool covers(const Family& family, const Problem& problem, const DeviceFacts& device);
/// All families that cover the problem on the device, preferred first. Empty: HSTU_ERROR_UNSUPPORTED.
std::vector<const Family*> families_for(const Problem& problem, const DeviceFacts& device);
/// Whether there are any.
bool is_covered(const Problem& problem, const DeviceFacts& device);
const Family* family_named(std::string_view name);
std::span<const Family* const> all_families();

/// True when every rule holds; otherwise *why gets the first broken rule's reason.
bool legal(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device,
           std::string_view* why = nullptr);
bool legal(std::span<const Rule> rules, const Problem& problem, const Config& config, const DeviceFacts& device,
           std::string_view* why = nullptr);
/// The first candidate that is legal; the last when none is.
Config first_legal(std::span<const Config> candidates, std::span<const Rule> rules, const Problem& problem,
                   const DeviceFacts& device);
/// True when every rule holds that is not for speed alone: the kernel would work.
bool works(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device);

/// "block_m=128 block_n=64 stages=2"; parse takes what text gave, missing knobs keep `missing`'s value, unknown ones
/// fail.
std::string text(const Family& family, const Config& config);
std::optional<Config> parse_config(const Family& family, std::string_view text, const Config& missing);

/// C++ spelling of an element type in kernels: "bf16", "f16", "float", "i32", "i64", "e4m3", "e5m2".
std::string_view device_type(hstu_dtype dtype);

}  // namespace hstujit
