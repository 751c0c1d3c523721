#include "gpu_record/record.hpp"

#include "support/error.hpp"
#include "support/files.hpp"

#include <algorithm>
#include <cstring>

namespace hstujit::gpu_record {
namespace {

constexpr const char* kFormat = "hstujit-gpu-record-2";

// ---- Members of the entries, each named once: for reading and for writing

struct Reading {
  const Json& json;
  template <class T>
  void operator()(const char* name, T& member) const {
    member = json.at(name).get<T>();
  }
  void operator()(const char* name, std::optional<double>& member) const {
    if (const Json& value = json.at(name); !value.is_null()) member = value.get<double>();
  }
  void if_any(const char* name, std::string& member) const { member = json.value(name, ""); }
};

struct Writing {
  Json& json;
  template <class T>
  void operator()(const char* name, const T& member) const {
    json[name] = member;
  }
  void operator()(const char* name, const std::optional<double>& member) const {
    json[name] = member ? Json(*member) : Json();
  }
  void if_any(const char* name, const std::string& member) const {
    if (!member.empty()) json[name] = member;
  }
};

void members(const auto& io, Taken& t) {
  io("date", t.date);
  io("driver", t.driver);
  io("digests", t.digests);
}

/// What a measurement tells, too.
void measured_members(const auto& io, Figure& f) {
  io("id", f.id);
  io("value", f.value);
  io("unit", f.unit);
  std::string better = f.higher_is_better ? "higher" : "lower";
  io("better", better);
  f.higher_is_better = better == "higher";
  io("target", f.target);
  io("yardstick", f.yardstick);
  io("command", f.command);
}

void members(const auto& io, Figure& f) {
  measured_members(io, f);
  io("nvrtc", f.nvrtc);
  io.if_any("choice", f.choice);
  members(io, f.taken);
}

void members(const auto& io, TestCounts& t) {
  io("device", t.device);
  io("room", t.room);
  io("passed", t.passed);
  io("failed", t.failed);
  io("skipped", t.skipped);
  members(io, t.taken);
}

void members(const auto& io, SanitizedCounts& s) {
  io("tool", s.tool);
  io("room", s.room);
  io("runs", s.runs);
  io("tests", s.tests);
  io("problems", s.problems);
  io("kernels", s.kernels);
  members(io, s.taken);
}

// ---- Lists of them

template <class Entry>
void read(const Json& json, std::vector<Entry>& entries) {
  for (const Json& entry : json) members(Reading{entry}, entries.emplace_back());
}

template <class Entry>
std::string lines(const std::vector<Entry>& entries) {
  std::string text;
  for (Entry entry : entries) {  // a copy: members() may read into it
    Json json;
    members(Writing{json}, entry);
    text += (text.empty() ? "\n    " : ",\n    ") + write_json(json);
  }
  return text;
}

}  // namespace

void read_measured(const Json& json, Figure& figure) { measured_members(Reading{json}, figure); }

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
