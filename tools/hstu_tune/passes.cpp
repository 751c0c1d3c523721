#include "hstu_tune/passes.hpp"

#include "tuner/device_sensors.hpp"

#include <fmt/format.h>

#include <chrono>

namespace hstujit::tool {
namespace {

constexpr int kWarmups = 3, kSamples = 30;
constexpr double kLoadSeconds = 1;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Keeps the device busy, and reads its sensors meanwhile.
void read_under_load(const DeviceSensors& sensors, const GpuWork& pass, Stopwatch& watch, Passes& passes) {
  const int count = static_cast<int>(kLoadSeconds * 1e3 / passes.back_to_back_ms) + 1;
  const auto run = [&](int passes_queued) {
    for (int i = 0; i < passes_queued; ++i) pass(watch.stream());
  };
  run(count / 4);  // the limits take a while to be felt
  watch.synchronise();
  const std::optional<double> before = sensors.joules();
  const auto start = std::chrono::steady_clock::now();
  run(count / 2);
  watch.synchronise();
  run(count - count / 2);
  passes.mhz = sensors.mhz();
  passes.held_back_by = sensors.held_back_by();
  watch.synchronise();
  const double seconds = seconds_since(start);
  const std::optional<double> after = sensors.joules();
  if (!before || !after || *after <= *before) return;
  passes.joules = (*after - *before) / count;
  passes.watts = (*after - *before) / seconds;
}

std::string conditions(const Passes& passes) {
  std::string text;
  if (passes.mhz > 0) text += fmt::format("; SM clock {} MHz", passes.mhz);
  if (passes.watts) text += fmt::format(", {:.0f} W", *passes.watts);
  if (!passes.held_back_by.empty()) text += ", held back by " + passes.held_back_by;
  return text;
}

}  // namespace

Passes time_passes(const Driver& driver, const GpuWork& pass, Stopwatch& watch) {
  Passes passes;
  passes.back_to_back_ms = static_cast<double>(watch.warm(pass, kWarmups, kSamples).median_ns) * 1e-6;
  read_under_load(DeviceSensors(driver), pass, watch, passes);
  passes.rested_ms = static_cast<double>(watch.rested(pass, kSamples).median_ns) * 1e-6;
  return passes;
}

void report_passes(const std::string& name, const Passes& passes, std::optional<double> target,
                   const std::string& rival, const std::vector<std::string>& families, Report& report) {
  report.add({name + "_graph_pass", passes.back_to_back_ms, "ms", false, target, rival + conditions(passes), families});
  report.add({name + "_graph_pass_rested", passes.rested_ms, "ms", false, std::nullopt,
              "each after 50 ms without work, as a request meets a server that is not full", families});
  if (passes.joules)
    report.add(
        {name + "_pass_energy", *passes.joules, "J", false, std::nullopt, "passes one behind another", families});
}

}  // namespace hstujit::tool
