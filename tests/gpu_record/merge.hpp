// Results of runs on a GPU, put into a record: each replaces what there was of the same figure or room, and nothing
// else.
#pragma once

#include "gpu_record/promised.hpp"
#include "gpu_record/record.hpp"
#include "gpu_record/sources.hpp"
#include "support/json.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace hstujit::gpu_record {

/// Results of `hstu-tune bench --json` or `run --json`. Gives the ids of the figures. Throws Error{INVALID_ARGUMENT}
/// when they are another device's.
std::vector<std::string> add_figures(Record& record, const Json& report, const std::string& date, Sources& sources,
                                     const std::vector<PromisedFigure>& promised);

/// All GPU tests there are, by their rooms: of `kernels_test --gtest_list_tests --gtest_output=json`.
class TestList {
 public:
  explicit TestList(const Json& listed);

  /// Throws Error{INVALID_ARGUMENT} for unknown names.
  const std::string& room(const std::string& test) const;
  const std::map<std::string, int64_t>& tests_by_room() const { return by_room_; }
  /// A --gtest_filter that takes the tests of these rooms alone, "*" for none.
  std::string filter(const std::set<std::string>& rooms) const;

 private:
  std::map<std::string, std::string> rooms_;  ///< by the test's name
  std::map<std::string, int64_t> by_room_;
  std::map<std::string, std::set<std::string>> suites_;  ///< by room
};

/// What --gtest_output=json says of tests that ran.
struct Outcome {
  int64_t passed = 0, failed = 0, skipped = 0;
  int64_t ran() const { return passed + failed + skipped; }
};
std::map<std::string, Outcome> outcomes_by_room(const TestList& list, const std::vector<Json>& outputs);

/// Puts in the rooms whose every test ran; gives a line for each that had less.
std::vector<std::string> add_tests(Record& record, const std::string& device, const TestList& list,
                                   const std::vector<Json>& outputs, Taken taken, Sources& sources);

/// Counts of one run under a sanitizer that found nothing: passed tests of outputs, and problems and kernels of counts,
/// {"norm": {"problems": 2000, "kernels": 120}}. They are added to those of runs on the same sources.
void add_sanitized(Record& record, const std::string& tool, const TestList& list, const std::vector<Json>& outputs,
                   const std::vector<Json>& counts, Taken taken, Sources& sources);

}  // namespace hstujit::gpu_record
