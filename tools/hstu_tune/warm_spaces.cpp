#include "hstu_tune/warm_spaces.hpp"

#include "hstu_tune/messages.hpp"
#include "hstu_tune/progress.hpp"
#include "hstu_tune/table.hpp"
#include "hstu_tune/warming.hpp"
#include "specialise/source.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "support/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <unordered_set>

namespace hstujit::tool {
namespace {

/// A family's space for one problem on one device.
struct SpaceLine {
  const Context* context;
  const Need* need;
  const Family* family;
  Space space;
  size_t kernels = 0;  ///< that no space before this one has
  int rejected = 0;    ///< of them: did not compile, or soundly
};

struct Task {
  Context* context;
  SpaceLine* line;
  Source source;
};

std::vector<SpaceLine> lines_of(const std::vector<std::unique_ptr<Context>>& contexts, const std::vector<Need>& needs,
                                Width width) {
  std::vector<SpaceLine> lines;
  for (const auto& context : contexts)
    for (const Need& need : needs)
      for (const Family* family : families_for(need.problem, context->facts()))
        lines.push_back(
            {context.get(), &need, family, enumerate(*family, need.problem, context->facts(), nullptr, width)});
  return lines;
}

/// One task a kernel: problems of other sizes often share their code.
std::vector<Task> tasks_of(std::vector<SpaceLine>& lines, const std::vector<std::unique_ptr<Context>>& contexts) {
  std::vector<Task> tasks;
  std::unordered_set<std::string> seen;
  for (SpaceLine& line : lines) {
    const auto owner = std::ranges::find_if(contexts, [&](const auto& c) { return c.get() == line.context; });
    const DeviceFacts& device = line.context->facts();
    for (const Config& config : line.space.points()) {
      Source source = specialise(*line.family, line.need->problem, config, device);
      if (!seen.insert(source.target + source.unit).second) continue;
      ++line.kernels;
      tasks.push_back({owner->get(), &line, std::move(source)});
    }
  }
  return tasks;
}

bool sound(Context& context, const Source& source) {
  try {
    const std::string_view flaw = context.jit().obtain(source)->flaw();
    if (!flaw.empty()) log().info("{}: {}", source.name, flaw);
    return flaw.empty();
  } catch (const Error& error) {
    if (error.status() == HSTU_ERROR_COMPILE) return false;
    throw;  // no compiler, say
  }
}

/// All cores take tasks in turn; how many were done. Throws what a task threw.
size_t run(const std::vector<Task>& tasks) {
  const Interrupt interrupt;
  Progress progress;
  std::mutex one_at_a_time;
  size_t done = 0;
  const auto take = [&](const Task& task) {
    const bool good = sound(*task.context, task.source);
    const std::lock_guard lock(one_at_a_time);
    task.line->rejected += !good;
    progress.show(static_cast<double>(++done) / static_cast<double>(tasks.size()),
                  fmt::format("{} of {} kernels", done, tasks.size()));
  };
  for_each_index(std::ssize(tasks), std::max(1u, std::thread::hardware_concurrency()), [&](int64_t i) {
    if (!Interrupt::asked()) take(tasks[static_cast<size_t>(i)]);
  });
  return done;
}

void print(const std::vector<SpaceLine>& lines) {
  Table table({"target", "call", "family", ">configurations", ">kernels", ">rejected"});
  for (const SpaceLine& line : lines)
    table.add({line.context->facts().target, line.need->call->name, std::string(line.family->name),
               fmt::format("{}", line.space.size()), fmt::format("{}", line.kernels),
               fmt::format("{}", line.rejected)});
  table.print();
}

}  // namespace

bool warm_spaces(const std::vector<std::unique_ptr<Context>>& contexts, const std::vector<Need>& needs, Width width) {
  std::vector<SpaceLine> lines = lines_of(contexts, needs, width);
  const std::vector<Task> tasks = tasks_of(lines, contexts);
  const size_t done = run(tasks);
  print(lines);
  if (done < tasks.size()) complain("interrupted with {} kernels to go", tasks.size() - done);
  return done == tasks.size();
}

}  // namespace hstujit::tool
