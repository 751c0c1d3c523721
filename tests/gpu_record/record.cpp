#include "gpu_record/record.hpp"

#include "support/error.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

#include <algorithm>
#include <cstring>

namespace hstujit::gpu_record {
namespace {

constexpr const char* kFormat = "hstujit-gpu-record-2";

// ---- Entries as JSON

void add(Json& json, const Taken& taken) {
  json["date"] = taken.date;
  json["driver"] = taken.driver;
  json["digests"] = taken.digests;
}
Taken taken_of(const Json& json) { return {json.at("date"), json.at("driver"), json.at("digests").get<Digests>()}; }

Json to_json(const Figure& f) {
  Json json = {{"id", f.id},
               {"value", f.value},
               {"unit", f.unit},
               {"better", f.higher_is_better ? "higher" : "lower"},
               {"target", f.target ? Json(*f.target) : Json()},
               {"yardstick", f.yardstick},
               {"command", f.command},
               {"nvrtc", f.nvrtc}};
  if (!f.choice.empty()) json["choice"] = f.choice;
  add(json, f.taken);
  return json;
}
void read(const Json& json, Figure& f) {
  f.id = json.at("id");
  f.value = json.at("value");
  f.unit = json.at("unit");
  f.higher_is_better = json.at("better") == "higher";
  if (const Json& target = json.at("target"); !target.is_null()) f.target = target.get<double>();
  f.yardstick = json.at("yardstick");
  f.command = json.at("command");
  f.nvrtc = json.at("nvrtc");
  f.choice = json.value("choice", "");
  f.taken = taken_of(json);
}

Json to_json(const TestCounts& t) {
  Json json = {
      {"device", t.device}, {"room", t.room}, {"passed", t.passed}, {"failed", t.failed}, {"skipped", t.skipped}};
  add(json, t.taken);
  return json;
}
void read(const Json& json, TestCounts& t) {
  t.device = json.at("device");
  t.room = json.at("room");
  t.passed = json.at("passed");
  t.failed = json.at("failed");
  t.skipped = json.at("skipped");
  t.taken = taken_of(json);
}

Json to_json(const SanitizedCounts& s) {
  Json json = {{"tool", s.tool},   {"room", s.room},         {"runs", s.runs},
               {"tests", s.tests}, {"problems", s.problems}, {"kernels", s.kernels}};
  add(json, s.taken);
  return json;
}
void read(const Json& json, SanitizedCounts& s) {
  s.tool = json.at("tool");
  s.room = json.at("room");
  s.runs = json.at("runs");
  s.tests = json.at("tests");
  s.problems = json.at("problems");
  s.kernels = json.at("kernels");
  s.taken = taken_of(json);
}

// ---- Lists of them

template <class Entry>
void read(const Json& json, std::vector<Entry>& entries) {
  for (const Json& entry : json) read(entry, entries.emplace_back());
}

template <class Entry>
std::string lines(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) text += (text.empty() ? "\n    " : ",\n    ") + write_json(to_json(entry));
  return text;
}

}  // namespace

Record read_record(const std::string& path) {
  std::string text;
  if (const int error = read_file(path, text))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be read: {}", path, std::strerror(error));
  Record record;
  try {
    const Json json = read_json(text);
    if (json.at("format") != kFormat) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: its format is not {}", path, kFormat);
    record.device = json.at("device");
    read(json.at("figures"), record.figures);
    read(json.at("tests"), record.tests);
    read(json.at("sanitized"), record.sanitized);
  } catch (const Json::exception& error) { fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {}", path, error.what()); }
  return record;
}

void write_record(const Record& record, const std::string& path) {
  const std::string text = fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"device\": {},\n  \"tests\": [{}],\n  \"sanitized\": [{}],\n"
      "  \"figures\": [{}]\n}}\n",
      kFormat, write_json(record.device), lines(record.tests), lines(record.sanitized), lines(record.figures));
  if (const int error = publish_file(path, text))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", path, std::strerror(error));
}

std::string file_name(const std::string& device) {
  std::string name = device + ".json";
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace hstujit::gpu_record
