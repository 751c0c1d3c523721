#include "gpu_record/jobs.hpp"

#include "gpu_record/rooms.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

namespace hstujit::gpu_record {
namespace {

/// In this order: the second finds the kernels that the first has left in its store.
constexpr std::string_view kRuns[] = {"hstu-tune run tools/workloads/dlrm_v3.json --budget 15",
                                      "hstu-tune run tools/workloads/dlrm_v3.json",
                                      "hstu-tune run tools/workloads/dlrm_v3.json --retune --budget 15",
                                      "hstu-tune run tools/workloads/dlrm_v3_fp8.json --budget 15",
                                      "hstu-tune run tools/workloads/dlrm_v3.json --device cuda@sm_80 --budget 25"};
constexpr std::string_view kParts[] = {" --only operators", " --only products", " --only warm-calls first-calls",
                                       " --only engine", " --arch sm_90a,sm_80 --only compiles"};

/// Figures to take, command by command; those of the bench room by room, so that one that is stopped leaves the others.
class FigureJobs {
 public:
  void add(const std::string& command, const std::string& room, const std::string& id) {
    auto& names = names_[{rank(command), command, room}];
    if (command.starts_with(kBench)) names.push_back(id);  // the others measure all they have
  }
  std::vector<Job> jobs() const {
    std::vector<Job> jobs;
    for (const auto& [key, names] : names_) jobs.push_back({Job::Kind::figures, std::get<1>(key), names});
    return jobs;
  }

 private:
  static size_t rank(const std::string& command) {
    return static_cast<size_t>(std::ranges::find(kRuns, command) - std::begin(kRuns)) % std::size(kRuns);
  }
  std::map<std::tuple<size_t, std::string, std::string>, std::vector<std::string>> names_;
};

/// Tests by devices and rooms: a folder's by itself, so that what is stopped leaves the others; the few beside all
/// folders together, since most have less to do than there are cores.
class TestJobs {
 public:
  explicit TestJobs(const Sources& sources) : sources_(sources) {}
  void add(std::string_view device, const std::string& room) {
    Job job{Job::Kind::tests, std::string(device), {room}};
    if (std::filesystem::is_directory(sources_.root() / "tests/kernels" / room))
      jobs_.push_back(std::move(job));
    else if (const auto found = beside_.try_emplace(job.what, job); !found.second)
      found.first->second.names.push_back(room);
  }
  void append_to(std::vector<Job>& jobs) const {
    jobs.insert(jobs.end(), jobs_.begin(), jobs_.end());
    for (const auto& [device, job] : beside_) jobs.push_back(job);
  }

 private:
  const Sources& sources_;
  std::vector<Job> jobs_;
  std::map<std::string, Job> beside_;
};

/// Minutes of one core, and no GPU is needed: when the others are done, the machine may be stopped.
std::vector<Job> with_compiles_last(std::vector<Job> jobs) {
  std::ranges::stable_partition(jobs, [](const Job& job) { return job.what.find(" --arch ") == std::string::npos; });
  return jobs;
}

std::string room_of_missing(const std::string& id, const std::vector<PromisedFigure>& promised) {
  const auto found = std::ranges::find(promised, id, &PromisedFigure::id);
  return found == promised.end() ? "" : found->room;
}

}  // namespace

std::vector<Job> all_jobs(const Sources& sources) {
  std::vector<Job> jobs;
  for (const std::string_view part : kParts)
    jobs.push_back({Job::Kind::figures, std::string(kBench) + std::string(part), {}});
  for (const std::string_view run : kRuns) jobs.push_back({Job::Kind::figures, std::string(run), {}});
  TestJobs tests(sources);
  for (const std::string_view device : kTestDevices)
    for (const std::string& room : rooms(sources)) tests.add(device, room);
  tests.append_to(jobs);
  return with_compiles_last(std::move(jobs));
}

std::vector<Job> stale_jobs(const Stale& stale, const Sources& sources, const std::vector<PromisedFigure>& promised) {
  FigureJobs figures;
  for (const auto& [figure, why] : stale.figures) {
    if (figure.command.empty())
      figures.add(std::string(kBench), room_of_missing(figure.id, promised), figure.id);
    else
      figures.add(figure.command, room_of_figure(figure), figure.id);
  }
  std::vector<Job> jobs = figures.jobs();
  TestJobs tests(sources);
  for (const auto& [counts, why] : stale.tests) tests.add(counts.device, counts.room);
  tests.append_to(jobs);
  return with_compiles_last(std::move(jobs));
}

std::vector<Job> jobs_of_rooms(const std::set<std::string>& wanted, const Record& record, const Sources& sources,
                               const std::vector<PromisedFigure>& promised) {
  FigureJobs figures;
  std::set<std::string> found, known;
  for (const Figure& figure : record.figures) {
    known.insert(figure.id);
    const std::string room = room_of_figure(figure);
    if (wanted.contains(room)) figures.add(figure.command, *found.insert(room).first, figure.id);
  }
  for (const auto& [id, room, choices] : promised)
    if (wanted.contains(room) && !known.contains(id)) figures.add(std::string(kBench), *found.insert(room).first, id);
  std::vector<Job> jobs = figures.jobs();
  const std::set<std::string> tested = rooms(sources);
  TestJobs tests(sources);
  for (const std::string_view device : kTestDevices)
    for (const std::string& room : wanted)
      if (tested.contains(room)) tests.add(device, *found.insert(room).first);
  tests.append_to(jobs);
  for (const std::string& room : wanted)
    if (!found.contains(room)) fail(HSTU_ERROR_INVALID_ARGUMENT, "room {}: no figures and no tests are of it", room);
  return with_compiles_last(std::move(jobs));
}

std::string text(const std::vector<Job>& jobs) {
  std::string text;
  for (const Job& job : jobs)
    text += fmt::format("{}\t{}\t{}\n", job.kind == Job::Kind::figures ? "figures" : "tests", job.what,
                        fmt::join(job.names, ","));
  return text;
}

}  // namespace hstujit::gpu_record
