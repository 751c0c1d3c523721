#include "call/counters.hpp"

#include <fmt/format.h>

#include <iterator>

namespace hstujit {
namespace {

struct Metric {
  int64_t hstu_counters::*value;
  std::string_view name, help;
  enum class Kind { gauge, count, seconds } kind;
};
using enum Metric::Kind;

constexpr Metric kMetrics[] = {
    {&hstu_counters::plans, "plans", "Problems with a loaded kernel.", gauge},
    {&hstu_counters::compiles, "compiles", "Kernels compiled.", count},
    {&hstu_counters::store_hits, "store_hits", "Kernels read from a store or pack instead of compiled.", count},
    {&hstu_counters::tunes, "tunes", "Problems tuned while serving.", count},
    {&hstu_counters::tuned_plans, "tuned_plans", "Misses answered by an exact tuned record.", count},
    {&hstu_counters::nearest_plans, "nearest_plans", "Misses answered by a nearest tuned record.", count},
    {&hstu_counters::default_plans, "default_plans", "Misses answered by a default configuration.", count},
    {&hstu_counters::stand_ins, "stand_ins", "Misses for which a loaded kernel stood in.", count},
    {&hstu_counters::background_plans, "background_plans", "Plans that arrived from the background.", count},
    {&hstu_counters::failed_preparations, "failed_preparations", "Background work that ended in an error.", count},
    {&hstu_counters::not_ready, "not_ready", "Calls refused because no kernel was ready.", count},
    {&hstu_counters::loads, "loads", "Kernels loaded by the driver.", count},
    {&hstu_counters::damaged, "damaged_entries", "Entries of a store that were damaged and set aside.", count},
    {&hstu_counters::evictions, "evictions", "Entries removed from the store to keep its limits.", count},
    {&hstu_counters::compile_ns, "compile", "Time spent compiling, over all threads.", seconds},
    {&hstu_counters::store_ns, "store", "Time spent reading kernels from stores and packs.", seconds},
    {&hstu_counters::load_ns, "load", "Time spent in the driver's loading of kernels.", seconds},
    {&hstu_counters::unusable_records, "unusable_records", "Records that did not compile, load or launch.", count},
};
static_assert(sizeof(hstu_counters) == sizeof(size_t) + std::size(kMetrics) * sizeof(int64_t),
              "a counter has no metric");

std::string escaped(std::string_view label) {
  std::string out;
  for (const char c : label) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string prometheus_text(const hstu_counters& counters, std::string_view device) {
  constexpr std::string_view kSuffix[] = {"", "_total", "_seconds_total"};
  const std::string label = escaped(device);
  std::string out;
  for (const Metric& metric : kMetrics) {
    const std::string name = fmt::format("hstujit_{}{}", metric.name, kSuffix[static_cast<int>(metric.kind)]);
    const int64_t value = counters.*metric.value;
    out +=
        fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, metric.help, metric.kind == gauge ? "gauge" : "counter");
    out += fmt::format("{}{{device=\"{}\"}} ", name, label);
    out += metric.kind == seconds ? fmt::format("{:.9f}\n", static_cast<double>(value) * 1e-9)
                                  : fmt::format("{}\n", value);
  }
  return out;
}

}  // namespace hstujit
