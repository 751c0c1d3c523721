// Every family really compiles, without spills or other flaws, where the tuner may go: the default configuration of
// each sample problem, and the corners of the usual problem's space.
#include "families/family.hpp"
#include "jit/jit.hpp"
#include "specialise/source.hpp"
#include "support/nvrtc.hpp"
#include "support/sample_problems.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <regex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace hstujit {
namespace {

// Of a space, spread evenly: on the target that a family was written for, and on newer ones, where it is the same code.
constexpr size_t kSampledPoints = 12, kSampledOnNewer = 4;
constexpr size_t kThreads = 2;

// The default, the points that need most and least of each resource, and a few spread evenly over the space.
std::vector<Config> corners(const Family& family, const Problem& problem, const DeviceFacts& device) {
  const Space space = enumerate(family, problem, device);
  std::vector<Config> out{space.standard()};
  for (int Resources::*need :
       {&Resources::threads, &Resources::smem_bytes, &Resources::registers, &Resources::min_blocks}) {
    const auto by_need = [&](const Config& config) { return family.resources(problem, config).*need; };
    const auto [least, most] = std::ranges::minmax_element(space.points(), {}, by_need);
    out.push_back(*least);
    out.push_back(*most);
  }
  const size_t sampled = family.min_compute_capability == device.compute_capability ? kSampledPoints : kSampledOnNewer;
  for (size_t i = 0; i < sampled; ++i) out.push_back(space.points()[i * space.size() / sampled]);
  return out;
}

using Sources = std::map<std::string, Source>;  // by unit: configurations that give the same code count once

void add(Sources& sources, const Family& family, const Problem& problem, const Config& config,
         const DeviceFacts& device) {
  Source source = specialise(family, problem, config, device);
  source.name += " for " + text(problem);
  sources.emplace(source.unit, std::move(source));
}

Sources sources_of(const Family& family, const DeviceFacts& device) {
  Sources sources;
  bool usual = true;
  for (const Problem& problem : test::sample_problems(family.op)) {
    if (!family.covers(problem, device)) continue;
    add(sources, family, problem, family.default_config(problem, device), device);
    if (usual)
      for (const Config& config : corners(family, problem, device)) add(sources, family, problem, config, device);
    usual = false;
  }
  return sources;
}

// Of the module, as ptxas -v has them.
int variable_bytes(const std::string& log) {
  std::smatch number;
  return std::regex_search(log, number, std::regex("([0-9]+) bytes gmem")) ? std::stoi(number[1]) : 0;
}

// What is wrong with a source's kernel; "" when nothing is.
std::string fault_of(Jit& jit, const Source& source) {
  try {
    const auto kernel = jit.obtain(source);
    if (!kernel->flaw().empty()) return source.name + ": " + std::string(kernel->flaw()) + "\n" + kernel->log;
    if (variable_bytes(kernel->log) == 0) return "";
    return source.name + ": the module has variables; constants are to be enumerators (prim/types.cuh)\n" + kernel->log;
  } catch (const Error& error) { return error.message(); }
}

std::vector<std::string> faults_of(const Sources& sources) {
  Jit jit({.store_path = "", .system_store_path = "", .kernels_path = "", .nvrtc_path = Environment::read().libnvrtc});
  std::vector<const Source*> queue;
  for (const auto& [unit, source] : sources) queue.push_back(&source);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::vector<std::string> faults;
  const auto work = [&] {
    for (size_t i; (i = next++) < queue.size();) {
      const std::string fault = fault_of(jit, *queue[i]);
      const std::lock_guard lock(mutex);
      if (!fault.empty()) faults.push_back(fault);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return faults;
}

class Compiles : public testing::TestWithParam<std::tuple<const Family*, std::string>> {};

TEST_P(Compiles, WithoutFlawsInTheCornersOfItsSpace) {
  HSTU_NEEDS_NVRTC();
  const auto& [family, target] = GetParam();
  const DeviceFacts device = *facts_of_target(target);
  const Sources sources = sources_of(*family, device);
  ASSERT_FALSE(sources.empty()) << family->name << " covers no sample problem";
  for (const std::string& fault : faults_of(sources)) ADD_FAILURE() << fault;
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
