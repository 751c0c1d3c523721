#include "hstu_tune/html.hpp"

#include "hstu_tune/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hstujit::tool::html {
namespace {

constexpr std::string_view kStyle = R"(
:root { --ink: #1b1f24; --soft: #667080; --line: #d8dde3; --paper: #fff; --dot: #8aa4c2; --best: #0a7d4f; --base: #b4540a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa4b2; --line: #38404a; --paper: #15181c; --dot: #5f7c9c; --best: #3fce8e; --base: #f0974a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
       background: var(--paper); }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; overflow-wrap: anywhere; }
p, .soft { color: var(--soft); } code { font-size: .85em; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
a { color: inherit; } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; } .axis { stroke: var(--line); } .dot { fill: var(--dot); }
.best { fill: var(--best); } .base { fill: var(--base); } .bound { stroke: var(--soft); stroke-dasharray: 4 3; }
@media (max-width: 40rem) {  /* phones: names on lines of their own, labels of the pictures as large as text */
  .overview tr { display: grid; grid-template-columns: 1fr 1fr 1fr 1.4fr; border-bottom: 1px solid var(--line); }
  .overview td, .overview th { border: 0; padding-bottom: 0; }
  .overview td:nth-child(-n+2), .overview th:nth-child(-n+2) { grid-column: 1 / -1; }
  .history { font-size: .75rem; } .history td:nth-child(4), .history th:nth-child(4) { display: none; }
  svg text { font-size: 24px; } .dot { r: 5px; } .best, .base { r: 9px; }
}
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; }
  body { max-width: none; font-size: 11px; } section { break-inside: avoid; } a { text-decoration: none; }
}
)";

/// Dense 16-bit tensor operations and memory, of the data sheets; device classes begin with the device's name.
struct Peak {
  std::string_view device;
  double flops, bytes;
};
constexpr Peak kPeaks[] = {
    {"NVIDIA H200", 989e12, 4.8e12}, {"NVIDIA H100 NVL", 835e12, 3.9e12}, {"NVIDIA H100", 989e12, 3.35e12},
    {"NVIDIA A100", 312e12, 2.0e12}, {"NVIDIA L40S", 362e12, 0.864e12},   {"NVIDIA A10", 125e12, 0.6e12},
};

constexpr double kWidth = 720, kHeight = 108, kMargin = 12, kBase = 70, kLabel = 102;

/// A logarithmic axis of seconds.
class Axis {
 public:
  Axis(double from, double to) : from_(from * 0.97), to_(std::max(to * 1.03, from * 1.001)) {}
  double at(double seconds) const {
    return kMargin + (kWidth - 2 * kMargin) * std::log(seconds / from_) / std::log(to_ / from_);
  }

 private:
  double from_, to_;
};

double seconds_of(const Trial& trial) { return static_cast<double>(trial.timing.median_ns) * 1e-9; }

std::string dot(const Axis& axis, const Trial& trial, std::string_view kind, double y, double radius) {
  return fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}: {} {}</title></circle>)"
                     "\n",
                     kind, axis.at(seconds_of(trial)), y, radius, duration_text(seconds_of(trial)),
                     escaped(trial.family), escaped(trial.config));
}

std::string label(double x, double y, std::string_view text) {
  const char* const anchor = x > kWidth / 2 ? "end" : "start";
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
                     "\n",
                     x, y, anchor, text);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), kStyle, body);
}

std::optional<double> bound_seconds(const Cost& cost, std::string_view device_class) {
  for (const Peak& peak : kPeaks)
    if (device_class.starts_with(peak.device)) return std::max(cost.flops / peak.flops, cost.bytes / peak.bytes);
  return std::nullopt;
}

std::string candidates(const Job& job, const Record& winner, std::optional<double> bound) {
  std::vector<const Trial*> complete;
  for (const Trial& trial : job.trials)
    if ((trial.status == TrialStatus::ok || trial.status == TrialStatus::slow) && trial.timing.median_ns > 0)
      complete.push_back(&trial);
  if (complete.empty()) return "";
  const auto by_time = [](const Trial* a, const Trial* b) { return a->timing.median_ns < b->timing.median_ns; };
  const auto [fastest, slowest] = std::minmax_element(complete.begin(), complete.end(), by_time);
  const Axis axis(std::min(seconds_of(**fastest), bound.value_or(seconds_of(**fastest))), seconds_of(**slowest));

  std::string out = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{} candidates by time">)"
                                "\n",
                                kWidth, kHeight, complete.size());
  out += fmt::format(R"(<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)"
                     "\n",
                     kMargin, kWidth - kMargin, kBase);
  for (size_t i = 0; i < complete.size(); ++i)  // spread over the height, the same way every time
    out += dot(axis, *complete[i], "dot", 14 + static_cast<double>(i * 29 % 48), 3);
  for (const Trial* trial : complete)
    if (trial->standard && trial->stage == winner.trial.stage) out += dot(axis, *trial, "base", kBase, 5);
  out += dot(axis, winner.trial, "best", kBase, 6);
  if (bound) {
    const double x = axis.at(*bound);
    out += fmt::format(R"(<line class="bound" x1="{0:.1f}" x2="{0:.1f}" y1="8" y2="{1}"/>)"
                       "\n",
                       x, kBase);
  }
  const double best = axis.at(seconds_of(winner.trial));
  out += label(best, kLabel, fmt::format("winner {}", duration_text(seconds_of(winner.trial))));
  const double last = axis.at(seconds_of(**slowest));
  if (last - best > 320) out += label(last, kLabel, duration_text(seconds_of(**slowest)));
  return out + "</svg>\n";
}

}  // namespace hstujit::tool::html
