// What there is to run on a GPU to take a record, or a part of it: lines for tools/record_gpu.sh.
#pragma once

#include "gpu_record/promised.hpp"
#include "gpu_record/record.hpp"
#include "gpu_record/stale.hpp"

#include <set>
#include <string>
#include <vector>

namespace hstujit::gpu_record {

/// Measures the figures that the project promises.
constexpr std::string_view kBench = "hstu-tune bench tools/workloads/figures.json";

struct Job {
  enum class Kind { figures, tests } kind;
  std::string what;                ///< the command, or the tests' device
  std::vector<std::string> names;  ///< figures of it, none for all; or rooms
  bool operator==(const Job&) const = default;
};

/// All there is.
std::vector<Job> all_jobs(const Sources& sources);
/// What is stale or was never taken.
std::vector<Job> stale_jobs(const Stale& stale, const Sources& sources, const std::vector<PromisedFigure>& promised);
/// All of these rooms, of figures and of tests. Throws Error{INVALID_ARGUMENT} naming a room that has neither.
std::vector<Job> jobs_of_rooms(const std::set<std::string>& rooms, const Record& record, const Sources& sources,
                               const std::vector<PromisedFigure>& promised);

/// "figures<TAB>command<TAB>a,b" and "tests<TAB>cuda<TAB>large,prim", a line each.
std::string text(const std::vector<Job>& jobs);

}  // namespace hstujit::gpu_record
