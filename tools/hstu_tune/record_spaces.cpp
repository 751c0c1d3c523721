#include "hstu_tune/record_spaces.hpp"

#include "support/error.hpp"
#include "support/output.hpp"
#include "tuner/recorded_text.hpp"

#include <fmt/format.h>

#include <cstring>

namespace hstujit::tool {
namespace {

std::string source_text(const Job& job, const Family& family) {
  return fmt::format("{} for {} on {}, driver {}, kernels {}, library {}", family.name, text(job.problem),
                     job.device_class, job.evidence.driver, job.evidence.kernels, job.evidence.library);
}

/// The latest job that measured all of the family's space; nothing when none did.
std::optional<NamedSpace> complete_space(const std::vector<Job>& jobs, const Family& family, const Space& space) {
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    auto recorded = recorded_space(*job, family, space.standard());
    if (!recorded || recorded->space.size() != space.size()) continue;
    std::vector<std::string> knobs;
    for (const Knob& knob : family.knobs) knobs.emplace_back(knob.name);
    return NamedSpace{source_text(*job, family), std::move(knobs), std::move(*recorded)};
  }
  return std::nullopt;
}

/// On what the recorded trials took their time.
std::string clock_text(const Context& context, const Job& job) {
  return fmt::format("{}, {} threads at a time; trials on {}", job.evidence.compiler, default_compile_threads(),
                     context.facts().name);
}

void write(const std::string& path, const NamedSpace& space) {
  if (const int error = write_output(path, bytes_of(space)))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", path, std::strerror(error));
  fmt::print("{}: {} configurations, best {:.2f} us\n", path, space.recorded.space.size(), space.recorded.best() * 1e6);
}

}  // namespace

SpacesWritten record_spaces(Context& context, const TuningOutcome& outcome, Width width, const std::string& folder) {
  SpacesWritten written;
  for (const Tuned& one : outcome.problems) {
    const Need& need = *one.need;
    const auto jobs = context.records().jobs(need.problem, context.facts().device_class());
    for (const Family* family : families_for(need.problem, context.facts())) {
      auto space = complete_space(jobs, *family, enumerate(*family, need.problem, context.facts(), nullptr, width));
      ++(space ? written.complete : written.incomplete);
      if (space && one.result) {
        add_trial_seconds(space->recorded, *family, one.result->costs);
        space->clock = clock_text(context, jobs.back());
      }
      if (space)
        write(fmt::format("{}/{}-{:016x}.space.zst", folder, family->name, digest(text(need.problem)).high), *space);
    }
  }
  return written;
}

}  // namespace hstujit::tool
