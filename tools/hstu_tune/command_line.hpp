// The command line as subcommands declare it: a few words in front of CLI11, which command_line.cpp alone includes,
// since each file that does compiles most of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hstujit::tool {

/// The chosen subcommand's work; returns the exit code.
using Action = std::function<int()>;

class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option& required();
  Option& described(const std::string& help);
  Option& shows_default();
  Option& comma_separated();
  Option& excludes(const std::string& other);
  Option& not_negative();
  Option& one_of(const std::vector<std::string>& words);
  /// `fault` says what is wrong with a text, "" when nothing is.
  Option& checked(std::function<std::string(const std::string&)> fault);

 private:
  CLI::Option& option_;
};

class Command {
 public:
  Command(CLI::App& app, Action& chosen) : app_(app), chosen_(chosen) {}

  Command subcommand(const std::string& name, const std::string& help);
  Command& hidden();
  Command& needs_subcommand();

  /// Names are "--device", "-o,--output", or "workload" for what is told by its place. The value is set while the
  /// arguments are read: it lives until then.
  Option option(const std::string& names, std::string& value, const std::string& help = "");
  Option option(const std::string& names, std::vector<std::string>& value, const std::string& help = "");
  Option option(const std::string& names, double& value, const std::string& help = "");
  Option option(const std::string& names, uint64_t& value, const std::string& help = "");
  Option option(const std::string& names, const std::function<void(const std::string&)>& take,
                const std::string& help = "");
  void flag(const std::string& names, bool& value, const std::string& help);

  /// What to do when this command is the chosen one.
  void runs(Action action);

 private:
  CLI::App& app_;
  Action& chosen_;
};

/// Adds a subcommand to the program.
using Declare = void (*)(Command& program);

/// The work that the arguments ask for. Help and mistakes are printed here; what is left of them is their exit code.
Action parse(int argc, char** argv, const std::string& about, std::span<const Declare> subcommands);

}  // namespace hstujit::tool
