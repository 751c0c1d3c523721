#include "hstu_tune/warming.hpp"

#include "families/family.hpp"
#include "hstu_tune/table.hpp"
#include "records/choose.hpp"
#include "specialise/kernel_sources.hpp"
#include "specialise/source.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "support/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>

namespace hstujit::tool {
namespace {

void make_plan(Context& context, Warmed& warmed) {
  try {
    warmed.plan = &context.plan_for(warmed.need->problem, nullptr, nullptr);
  } catch (const Error& error) { warmed.error = error.message(); }
}

/// How long a kernel takes to compile, about: by the length of all that its source includes; of one family, by how
/// much its problem asks for.
using Weight = std::pair<size_t, std::ptrdiff_t>;

/// Nothing where another need's kernel is the same, or there is none: a core that takes it only waits.
Weight weight(KernelSources& sources, std::unordered_set<std::string>& seen, const Warmed& one) {
  const Problem& problem = one.need->problem;
  const DeviceFacts& device = one.context->facts();
  if (families_for(problem, device).empty()) return {};
  const Choice choice = choose(one.context->records(), problem, device, false);
  const Source source = specialise(*choice.family, problem, choice.config, device);
  if (!seen.insert(source.target + source.unit).second) return {};
  size_t bytes = 0;
  for (const SourceClosure::File& file : sources.closure(source.header).files)
    bytes += std::string_view(file.text).size();
  return {bytes, std::ranges::count_if(problem.field, [](int32_t value) { return value != 0; })};
}

/// Indices into `all`, the longest compilations first, so that none is left alone at the end.
std::vector<size_t> longest_first(const std::vector<Warmed>& all) {
  KernelSources sources;
  std::unordered_set<std::string> seen;
  std::vector<std::pair<Weight, size_t>> order;
  for (size_t i = 0; i < all.size(); ++i) order.emplace_back(weight(sources, seen, all[i]), i);
  std::ranges::stable_sort(order, std::ranges::greater(), [](const auto& one) { return one.first; });
  std::vector<size_t> indices;
  for (const auto& one : order) indices.push_back(one.second);
  return indices;
}

}  // namespace

std::vector<Warmed> warm(const std::vector<std::unique_ptr<Context>>& contexts, const std::vector<Need>& needs,
                         const std::function<void(const Warmed&)>& done) {
  std::vector<Warmed> all;
  for (const auto& context : contexts)
    for (const Need& need : needs)
      if (made_on(context->facts(), *need.calls)) all.push_back({context.get(), &need, nullptr, ""});

  const std::vector<size_t> order = longest_first(all);
  for (const size_t i : order)
    log().debug("in turn: {} for {}", all[i].need->call->name, all[i].context->facts().target);
  std::mutex one_at_a_time;
  for_each_index(std::ssize(order), std::max(1u, std::thread::hardware_concurrency()), [&](int64_t at) {
    Warmed& one = all[order[static_cast<size_t>(at)]];
    make_plan(*one.context, one);
    const std::lock_guard lock(one_at_a_time);
    done(one);
  });
  return all;
}

void print_warmed(const std::vector<Warmed>& all) {
  Table table({"target", "call", "configuration", ">compile", ">registers", ">spills", "remark"});
  for (const Warmed& one : all) {
    const std::string target = one.context->facts().target;
    if (!one.plan) {
      table.add({target, one.need->call->name, "-", "-", "-", "-", "failed"});
      continue;
    }
    const CompiledKernel& kernel = *one.plan->compiled;
    table.add({target, one.need->call->name, text(one.plan->choice), duration_text(kernel.compile_ms * 1e-3),
               fmt::format("{}", kernel.registers), fmt::format("{} B", kernel.spill_bytes),
               std::string(kernel.flaw())});
  }
  table.print();
}

std::string counters_text(const std::vector<std::unique_ptr<Context>>& contexts) {
  int64_t compiles = 0, hits = 0;
  for (const auto& context : contexts) {
    compiles += context->counters().compiles;
    hits += context->counters().store_hits;
  }
  return fmt::format("{} compiled, {} from the store", compiles, hits);
}

}  // namespace hstujit::tool
