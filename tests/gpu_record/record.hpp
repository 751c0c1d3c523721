// A GPU record: what was last measured and tested on one model of GPU, each figure and each room of tests with the
// digests of what it depends on, so that it ages with these alone.
#pragma once

#include "gpu_record/sources.hpp"
#include "support/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hstujit::gpu_record {

/// When and on what something was taken.
struct Taken {
  std::string date;    ///< 2026-11-27, UTC
  std::string driver;  ///< 13000
  Digests digests;     ///< of all that it depends on, as it was then
};

struct Figure {
  std::string id, unit;
  double value = 0;
  bool higher_is_better = false;
  std::optional<double> target;
  std::string yardstick;
  std::string command;  ///< a figure is known by its id and this
  std::string nvrtc;
  std::string choice;  ///< PromisedFigure's, then
  Taken taken;

  bool is(const Figure& other) const { return id == other.id && command == other.command; }
};

/// How the tests of a room ended, all of them.
struct TestCounts {
  std::string device;  ///< "cuda" or "cuda@sm_80"
  std::string room;
  int64_t passed = 0, failed = 0, skipped = 0;
  Taken taken;

  bool is(const TestCounts& other) const { return device == other.device && room == other.room; }
};

/// What ran under a sanitizer without a finding, added up over runs on the same sources.
struct SanitizedCounts {
  std::string tool;  ///< "memcheck"
  std::string room;
  int64_t runs = 0, tests = 0;
  int64_t problems = 0, kernels = 0;  ///< of random sweeps, which tell them (HSTUJIT_TEST_COUNTS)
  Taken taken;                        ///< the last time

  bool is(const SanitizedCounts& other) const { return tool == other.tool && room == other.room; }
};

struct Record {
  std::string device;  ///< "NVIDIA H200"
  std::vector<Figure> figures;
  std::vector<TestCounts> tests;
  std::vector<SanitizedCounts> sanitized;
};

/// What `hstu-tune` tells of a figure: all but its families, its NVRTC and when it was taken.
void read_measured(const Json& json, Figure& figure);

/// Throws Error{INVALID_ARGUMENT} naming the file, and the member that is absent or of another type.
Record read_record(const std::string& path);
/// A line an entry, so that a change shows what was taken again. Throws Error{STORE}.
void write_record(const Record& record, const std::string& path);
/// "NVIDIA_H200.json" of "NVIDIA H200".
std::string file_name(const std::string& device);

/// Puts the entry in the place of the one of its kind, or behind them all.
template <class Entry>
void put(std::vector<Entry>& entries, Entry entry) {
  for (Entry& known : entries)
    if (known.is(entry)) {
      known = std::move(entry);
      return;
    }
  entries.push_back(std::move(entry));
}

}  // namespace hstujit::gpu_record
