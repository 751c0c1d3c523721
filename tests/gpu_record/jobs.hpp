// What there is to run on a GPU to take a record, or a part of it: lines for tools/record_gpu.sh.
#pragma once

#include "gpu_record/record.hpp"
#include "gpu_record/stale.hpp"

#include <set>
#include <string>
#include <vector>

namespace hstujit::gpu_record {

/// The workload whose figures the project promises, and the command that measures them.
constexpr std::string_view kWorkload = "tools/workloads/figures.json";
constexpr std::string_view kBench = "hstu-tune bench tools/workloads/figures.json";

/// The workload's figures by their operators' rooms. Throws as read_workload() does.
std::vector<MissingFigure> promised_figures(const Sources& sources);

struct Job {
  enum class Kind { figures, tests } kind;
  std::string what;                ///< the command, or the tests' device
  std::vector<std::string> names;  ///< figures of it, none for all; or rooms
  bool operator==(const Job&) const = default;
};

/// All there is.
std::vector<Job> all_jobs(const Sources& sources);
/// What is stale or was never taken.
std::vector<Job> stale_jobs(const Stale& stale, const Sources& sources, const std::vector<MissingFigure>& promised);
/// All of these rooms, of figures and of tests. Throws Error{INVALID_ARGUMENT} naming a room that has neither.
std::vector<Job> jobs_of_rooms(const std::set<std::string>& rooms, const Record& record, const Sources& sources,
                               const std::vector<MissingFigure>& promised);

/// "figures<TAB>command<TAB>a,b" and "tests<TAB>cuda<TAB>large,prim", a line each.
std::string text(const std::vector<Job>& jobs);

}  // namespace hstujit::gpu_record
