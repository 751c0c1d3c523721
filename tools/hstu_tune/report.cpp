#include "hstu_tune/report.hpp"

#include "support/error.hpp"
#include "support/json.hpp"
#include "support/output.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace hstujit::tool {
namespace {

std::string command_line;

/// Field 22 of /proc/self/stat: clock ticks between the machine's start and the process's.
double process_start() {
  std::string stat;
  std::getline(std::ifstream("/proc/self/stat"), stat);
  size_t at = stat.rfind(')');  // the second field may contain blanks
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) fail(HSTU_ERROR_INTERNAL, "/proc/self/stat cannot be read");
  return std::stod(stat.substr(at)) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// How many arguments behind the option are its own, where it says nothing about a figure: where the results go, and
/// what else is measured.
std::optional<int> arguments_of_no_account(std::string_view option) {
  if (option == "--json") return 1;
  if (option == "--only" || option == "--figures") return INT_MAX;  // all up to the next option
  return std::nullopt;
}

}  // namespace

void set_command_line(int argc, char** argv) {
  command_line = std::filesystem::path(argv[0]).filename().string();
  int left_out = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool option = argument.starts_with("-");
    if (!option && left_out-- > 0) continue;
    const auto own = option ? arguments_of_no_account(argument) : std::nullopt;
    left_out = own.value_or(0);
    if (!own) command_line += fmt::format(" {}", argument);
  }
}

double seconds_since_start() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - process_start();
}

Report::Report() : json_(std::make_unique<Json>(Json{{"figures", Json::array()}})) {}

Report::~Report() = default;

Json& Report::operator[](const char* member) { return (*json_)[member]; }

void Report::limit_to(const std::string& generation) { generation_ = generation; }

void Report::select(std::vector<std::string> ids) { selected_ = std::move(ids); }

bool Report::wants(const std::string& id) const {
  const std::string full = generation_.empty() ? id : id + "_on_" + generation_;
  return selected_.empty() || std::ranges::find(selected_, full) != selected_.end();
}

void Report::add(const Figure& measured) {
  Figure figure = measured;
  if (!generation_.empty()) {
    figure.id += "_on_" + generation_;
    figure.target.reset();
  }
  Json entry = {{"id", figure.id},         {"value", figure.value},
                {"unit", figure.unit},     {"better", figure.higher_is_better ? "higher" : "lower"},
                {"target", nullptr},       {"yardstick", figure.yardstick},
                {"command", command_line}, {"families", figure.families}};
  if (figure.of_launching) entry["of_launching"] = true;
  std::string target;
  if (figure.target) {
    entry["target"] = *figure.target;
    const bool met = figure.higher_is_better ? figure.value >= *figure.target : figure.value <= *figure.target;
    target = fmt::format(", target {:g}: {}", *figure.target, met ? "met" : "NOT met");
  }
  (*this)["figures"].push_back(std::move(entry));
  fmt::print("figure {}: {:.4g} {}{}{}{}{}\n", figure.id, figure.value, figure.unit, target,
             figure.yardstick.empty() ? "" : " (", figure.yardstick, figure.yardstick.empty() ? "" : ")");
}

void Report::write(const std::string& path) const {
  if (path.empty()) return;
  if (const int error = write_output(path, write_json(*json_, 2) + "\n"))
    fail(HSTU_ERROR_STORE, "{}: cannot be written: {}", path, std::strerror(error));
}

}  // namespace hstujit::tool
