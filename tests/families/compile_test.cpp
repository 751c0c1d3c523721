// Every family really compiles, without spills or other flaws and not for long, where the tuner may go: the default
// configuration of each sample problem, and the corners of the usual problem's space. Not all of it in each run:
// due_sources.hpp.
#include "families/due_sources.hpp"
#include "families/family.hpp"
#include "jit/jit.hpp"
#include "specialise/source.hpp"
#include "support/cpu_time.hpp"
#include "support/nvrtc.hpp"
#include "support/sample_problems.hpp"
#include "tuner/space.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace hstujit {
namespace {

constexpr size_t kSampledPoints = 6, kThreads = 2;

// The points that need most and least of each resource, and a few spread evenly over the space.
std::vector<Config> corners(const Family& family, const Problem& problem, const DeviceFacts& device) {
  const Space space = enumerate(family, problem, device);
  std::vector<Config> out;
  for (int Resources::*need :
       {&Resources::threads, &Resources::smem_bytes, &Resources::registers, &Resources::min_blocks}) {
    const auto by_need = [&](const Config& config) { return family.resources(problem, config).*need; };
    const auto [least, most] = std::ranges::minmax_element(space.points(), {}, by_need);
    out.push_back(*least);
    out.push_back(*most);
  }
  for (size_t i = 0; i < kSampledPoints; ++i) out.push_back(space.points()[i * space.size() / kSampledPoints]);
  return out;
}

// Whether a family of a newer generation takes the problem, too, so that this one is what it is seldom better than.
bool has_successor(const Family& family, const Problem& problem, const DeviceFacts& device) {
  return std::ranges::any_of(all_families(), [&](const Family* other) {
    return other->op == family.op && other->min_compute_capability > family.min_compute_capability &&
           other->min_compute_capability <= device.compute_capability && other->covers(problem, device);
  });
}

using Sources = std::map<std::string, Source>;  // by unit: configurations that give the same code count once

void add(Sources& sources, const Family& family, const Problem& problem, const Config& config,
         const DeviceFacts& device) {
  Source source = specialise(family, problem, config, device);
  source.name += " for " + text(problem);
  sources.emplace(source.unit, std::move(source));
}

// The default for every sample problem, and the first one's corners where the family has no successor.
Sources sources_of(const Family& family, const DeviceFacts& device) {
  Sources sources;
  bool first = true;
  for (const Problem& problem : test::sample_problems(family.op)) {
    if (!family.covers(problem, device)) continue;
    add(sources, family, problem, family.default_config(problem, device), device);
    if (first && !has_successor(family, problem, device))
      for (const Config& config : corners(family, problem, device)) add(sources, family, problem, config, device);
    first = false;
  }
  return sources;
}

// Of the module, as ptxas -v has them: "... 28 bytes gmem". Not by std::regex, which threads may not build side by
// side: libstdc++ fills a table of the locale as it goes.
int variable_bytes(const std::string& log) {
  const size_t end = log.find(" bytes gmem");
  return end == std::string::npos ? 0 : std::stoi(log.substr(log.find_last_not_of("0123456789", end - 1) + 1));
}

Jit without_store() {
  return Jit(
      {.store_path = "", .system_store_path = "", .kernels_path = "", .nvrtc_path = Environment::read().libnvrtc});
}

// The kernel, and the seconds of a core that it took.
std::shared_ptr<const CompiledKernel> obtain(Jit& jit, const Source& source, double& seconds) {
  const double begin = test::thread_seconds();
  auto kernel = jit.obtain(source);
  seconds = test::thread_seconds() - begin;
  return kernel;
}

double seconds_of(const Source& source) {
  Jit jit = without_store();
  double seconds = 0;
  obtain(jit, source, seconds);
  return seconds;
}

// The same work for every version of the kernels.
Source yardstick(const std::string& target) {
  Source out;
  out.name = "yardstick";
  out.header = "prim/types.cuh";
  out.unit = R"(#include "prim/types.cuh"
namespace hstu {
struct Config {};
template <class Config>
__global__ void yardstick(float* x) {
  float held[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) held[i] = x[i * 32];
#pragma unroll
  for (int round = 1; round <= 24; ++round)
#pragma unroll
    for (int i = 0; i < 64; ++i) held[i] = held[i] * held[(i + round) % 64] + held[(i + 2 * round) % 64];
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i * 32] = held[i];
}
}
)";
  out.entry = "hstu::yardstick<hstu::Config>";
  out.target = target;
  out.options = {"--gpu-architecture=" + target, "--std=c++17", "--no-source-include", "--ptxas-options=-v"};
  return out;
}

// Short, so that whatever disturbs it counts for much: the quickest of a few.
double yardstick_seconds(const std::string& target) {
  constexpr int kRounds = 3;
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) least = std::min(least, seconds_of(yardstick(target)));
  return least;
}

// Nobody waits longer for a kernel than for so many yardsticks, of 0.1 s on a core of its own. What takes longer is
// rarely the code that comes out: loops unrolled inside one another are, of which most is then found to do nothing.
constexpr double kMostYardsticks = 15, kSuspectSeconds = 1.5;

// What is wrong with a source that took so long beside all else that this machine did; "" when it was that. Others come
// and go, so that the yardstick is compiled anew each time that the source is, and there are many rounds: the default
// of attention with every option at once takes 10 to 16 yardsticks, as it happens.
std::string slowness_of(const Source& source, double seconds) {
  constexpr int kRounds = 12;
  double least = seconds / yardstick_seconds(source.target);
  for (int round = 1; round < kRounds && least > kMostYardsticks; ++round) {
    seconds = seconds_of(source);
    least = std::min(least, seconds / yardstick_seconds(source.target));
  }
  if (least <= kMostYardsticks) return "";
  return fmt::format("{}: takes {:.1f} times as long to compile as the yardstick, of {}", source.name, least,
                     kMostYardsticks);
}

// What is wrong with a source's kernel; "" when nothing is.
std::string fault_of(Jit& jit, const Source& source, double& seconds) {
  try {
    const auto kernel = obtain(jit, source, seconds);
    if (!kernel->flaw().empty()) return source.name + ": " + std::string(kernel->flaw()) + "\n" + kernel->log;
    if (variable_bytes(kernel->log) == 0) return "";
    return source.name + ": the module has variables; constants are to be enumerators (prim/types.cuh)\n" + kernel->log;
  } catch (const Error& error) { return error.message(); }
}

std::vector<std::string> faults_of(const std::vector<const Source*>& queue) {
  Jit jit = without_store();
  std::vector<std::pair<const Source*, double>> slow;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::vector<std::string> faults;
  const auto work = [&] {
    for (size_t i; (i = next++) < queue.size();) {
      double seconds = 0;
      const std::string fault = fault_of(jit, *queue[i], seconds);
      const std::lock_guard lock(mutex);
      if (!fault.empty()) faults.push_back(fault);
      if (seconds > kSuspectSeconds) slow.emplace_back(queue[i], seconds);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  for (const auto& [source, seconds] : slow)
    if (const std::string fault = slowness_of(*source, seconds); !fault.empty()) faults.push_back(fault);
  return faults;
}

class Compiles : public testing::TestWithParam<std::tuple<const Family*, std::string>> {};

TEST_P(Compiles, WithoutFlawsAndSoonInTheCornersOfItsSpace) {
  HSTU_NEEDS_NVRTC();
  const auto& [family, target] = GetParam();
  const DeviceFacts device = *facts_of_target(target);
  const Sources sources = sources_of(*family, device);
  ASSERT_FALSE(sources.empty()) << family->name << " covers no sample problem";
  std::vector<const Source*> all;
  for (const auto& [unit, source] : sources) all.push_back(&source);
  const test::DueSources due = test::due_sources(family->name, target, all);
  RecordProperty("compiled", fmt::format("{} of {}", due.sources.size(), all.size()));
  for (const std::string& fault : faults_of(due.sources)) ADD_FAILURE() << fault;
  if (!HasFailure()) test::note_compiled(due, all.size());
}

std::vector<const Family*> families_of(int oldest) {
  std::vector<const Family*> out;
  for (const Family* family : all_families())
    if (family->min_compute_capability <= oldest) out.push_back(family);
  return out;
}

std::string name_of_case(const testing::TestParamInfo<Compiles::ParamType>& info) {
  return std::string(std::get<0>(info.param)->name) + "_for_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Sm80, Compiles, testing::Combine(testing::ValuesIn(families_of(80)), testing::Values("sm_80")),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Sm90, Compiles,
                         testing::Combine(testing::ValuesIn(families_of(90)), testing::Values("sm_90a")), name_of_case);

}  // namespace
}  // namespace hstujit
