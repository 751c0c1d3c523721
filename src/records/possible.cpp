#include "records/possible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hstujit {
namespace {

constexpr double kMostSeconds = 24 * 3600;
constexpr int64_t kMostNs = int64_t{24} * 3600 * 1'000'000'000;
constexpr int64_t kMostMs = 253'402'300'799'999;  // the end of the year 9999
constexpr int64_t kMostSamples = 1'000'000'000, kMostMhz = 100'000, kMostBytes = 1 << 30, kMostRegisters = 1 << 16,
                  kMostDriver = 1'000'000;

struct Quantity {
  std::string_view name;
  int64_t value, least, most;
};

Impossible first_impossible(std::initializer_list<Quantity> quantities) {
  for (const Quantity& q : quantities)
    if (q.value < q.least || q.value > q.most)
      return fmt::format("{} = {}: it must be from {} to {}", q.name, q.value, q.least, q.most);
  return {};
}

}  // namespace

Impossible impossible(const TrialNumbers& t) {
  const bool ran = t.status == TrialStatus::ok || t.status == TrialStatus::slow;
  const int64_t least = ran ? 1 : 0;  // of what failed there is no time
  return first_impossible({{"stage", static_cast<int64_t>(t.stage), 0, static_cast<int64_t>(Stage::finals)},
                           {"status", static_cast<int64_t>(t.status), 0, static_cast<int64_t>(TrialStatus::failed)},
                           {"samples", t.timing.samples, least, kMostSamples},
                           {"median_ns", t.timing.median_ns, least, kMostNs},
                           {"mad_ns", t.timing.mad_ns, 0, kMostNs},
                           {"p20_ns", t.timing.p20_ns, 0, kMostNs},
                           {"p80_ns", t.timing.p80_ns, 0, kMostNs},
                           {"sm_mhz", t.sm_mhz, 0, kMostMhz},
                           {"registers", t.registers, 0, kMostRegisters},
                           {"smem_bytes", t.smem_bytes, 0, kMostBytes},
                           {"spill_bytes", t.spill_bytes, 0, kMostBytes},
                           {"at_ms", t.at_ms, 0, kMostMs}});
}

Impossible impossible(const Trial& t) {
  return impossible({t.stage, t.status, t.timing, t.sm_mhz, t.registers, t.smem_bytes, t.spill_bytes, t.at_ms});
}

Impossible impossible(const Job& head) {
  // As the database has it: it counts the characters in front of the first that is zero.
  if (head.uid.empty() || head.uid.size() > kMaxUid || head.uid.find('\0') != std::string::npos)
    return fmt::format("uid: it must have 1 to {} characters, none of them zero", kMaxUid);
  return first_impossible({{"state", static_cast<int64_t>(head.state), 0, static_cast<int64_t>(JobState::finished)},
                           {"driver", head.evidence.driver, 0, kMostDriver},
                           {"budget_ms", head.budget_ms, 0, std::numeric_limits<int64_t>::max()},
                           {"started_ms", head.started_ms, 0, kMostMs},
                           {"updated_ms", head.updated_ms, 0, kMostMs}});
}

Impossible impossible_standard(int64_t standard_ns) {
  return first_impossible({{"standard_ns", standard_ns, 0, kMostNs}});
}

Impossible impossible(std::span<const double> seconds) {
  const auto wrong =
      std::ranges::find_if(seconds, [](double s) { return !(s > 0 && s <= kMostSeconds); });  // NaN is neither
  return wrong == seconds.end() ? Impossible() : fmt::format("{} s is no time that a kernel can take", *wrong);
}

}  // namespace hstujit
