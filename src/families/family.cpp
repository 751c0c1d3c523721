#include "families/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace hstujit {

void ConfigText::type(std::string_view name, std::string_view type) {
  text_.append("  using ").append(name).append(" = ").append(type).append(";\n");
}
void ConfigText::constant(std::string_view name, int64_t value) {
  text_.append("  enum : int { ").append(name).append(" = ").append(std::to_string(value)).append(" };\n");
}
void ConfigText::flag(std::string_view name, bool value) {
  text_.append("  enum : bool { ").append(name).append(value ? " = true };\n" : " = false };\n");
}

std::string Family::header() const { return fmt::format("{}/{}.cuh", room, name); }

bool smem_holds(const DeviceFacts& device, int blocks, int smem_bytes) {
  constexpr int kReserved = 1024;  // of each block, by the driver
  return smem_bytes <= device.smem_per_block && blocks * (smem_bytes + kReserved) <= device.smem_per_sm;
}

int register_budget(int blocks, int threads) {
  constexpr int kOfAnSm = 65536, kMost = 255, kStep = 8;  // on every target
  constexpr int kQuarter = 128;  // an SM's quarters have registers of their own: whole warps each
  const int shares = (blocks * threads + kQuarter - 1) / kQuarter * kQuarter;
  return std::min(kMost, kOfAnSm / shares / kStep * kStep);
}

bool legal(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device,
           std::string_view* why) {
  return legal(family.rules, problem, config, device, why);
}

bool legal(std::span<const Rule> rules, const Problem& problem, const Config& config, const DeviceFacts& device,
           std::string_view* why) {
  for (const Rule& rule : rules) {
    if (rule.holds(problem, config, device)) continue;
    if (why) *why = rule.why;
    return false;
  }
  return true;
}

Config first_legal(std::span<const Config> candidates, std::span<const Rule> rules, const Problem& problem,
                   const DeviceFacts& device) {
  const auto found =
      std::ranges::find_if(candidates, [&](const Config& c) { return legal(rules, problem, c, device); });
  return found != candidates.end() ? *found : candidates.back();
}

bool works(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device) {
  return std::ranges::all_of(family.rules,
                             [&](const Rule& rule) { return rule.for_speed || rule.holds(problem, config, device); });
}

bool launches_dependently(const Family& family, const DeviceFacts& device) {
  return family.dependent_launch && device.compute_capability >= 90;
}

void bind(const Family& family, const void* args, const Problem& problem, const Config& config,
          const DeviceFacts& device, void* tile_counters, Launch& launch) {
  launch.dependent = launches_dependently(family, device);
  family.bind(args, problem, config, device, launch);
  if (family.tile_counters_at)
    std::memcpy(launch.params + *family.tile_counters_at, &tile_counters, sizeof tile_counters);
}

std::string text(const Family& family, const Config& config) {
  std::string out;
  int index = 0;
  for (const Knob& knob : family.knobs) {
    if (index > 0) out += ' ';
    out.append(knob.name).append("=").append(std::to_string(config[index++]));
  }
  return out;
}

std::optional<Config> parse_config(const Family& family, std::string_view text, const Config& missing) {
  Config config = missing;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    int knob = 0;
    while (knob < static_cast<int>(family.knobs.size()) &&
           family.knobs[static_cast<size_t>(knob)].name != word.substr(0, equals))
      ++knob;
    if (knob == static_cast<int>(family.knobs.size())) return std::nullopt;
    const auto [last, status] = std::from_chars(word.data() + equals + 1, word.data() + word.size(), config[knob]);
    if (status != std::errc() || last != word.data() + word.size()) return std::nullopt;
  }
  return config;
}

std::string_view device_type(hstu_dtype dtype) {
  switch (dtype) {
    case HSTU_DTYPE_F32:
      return "float";
    case HSTU_DTYPE_F16:
      return "f16";
    case HSTU_DTYPE_BF16:
      return "bf16";
    case HSTU_DTYPE_I32:
      return "i32";
    case HSTU_DTYPE_I64:
      return "i64";
    case HSTU_DTYPE_E4M3:
      return "e4m3";
    case HSTU_DTYPE_E5M2:
      return "e5m2";
    case HSTU_DTYPE_NONE:
    case HSTU_DTYPE_U8:  // copied only, by size
    case HSTU_DTYPE_I16:
    case HSTU_DTYPE_F64:  // computed with by no GPU
      break;
  }
  return "void";
}

}  // namespace hstujit
