#include "hstu_tune/command_line.hpp"

#include <hstujit/hstujit.h>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <utility>

namespace hstujit::tool {

Option& Option::required() { return option_.required(), *this; }

Option& Option::described(const std::string& help) { return option_.description(help), *this; }

Option& Option::shows_default() { return option_.capture_default_str(), *this; }

Option& Option::comma_separated() { return option_.delimiter(','), *this; }

Option& Option::excludes(const std::string& other) { return option_.excludes(other), *this; }

Option& Option::not_negative() {
  option_.check(CLI::NonNegativeNumber);
  return checked([](const std::string& text) {  // NaN is in every range
    return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + ": a number belongs here" : std::string();
  });
}

Option& Option::one_of(const std::vector<std::string>& words) { return option_.check(CLI::IsMember(words)), *this; }

Option& Option::checked(std::function<std::string(const std::string&)> fault) {
  return option_.check(std::move(fault)), *this;
}

Command Command::subcommand(const std::string& name, const std::string& help) {
  return Command(*app_.add_subcommand(name, help), chosen_);
}

Command& Command::hidden() { return app_.group(""), *this; }

Command& Command::needs_subcommand() { return app_.require_subcommand(1), *this; }

Option Command::option(const std::string& names, std::string& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, std::vector<std::string>& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, double& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, uint64_t& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, const std::function<void(const std::string&)>& take,
                       const std::string& help) {
  return Option(*app_.add_option_function<std::string>(names, take, help));
}

void Command::flag(const std::string& names, bool& value, const std::string& help) {
  app_.add_flag(names, value, help);
}

void Command::runs(Action action) {
  app_.callback([&chosen = chosen_, action = std::move(action)] { chosen = action; });
}

Action parse(int argc, char** argv, const std::string& about, std::span<const Declare> subcommands) {
  CLI::App app(about, "hstu-tune");
  app.set_version_flag("--version", hstu_version());
  Action chosen;
  Command program(app, chosen);
  program.needs_subcommand();
  for (const Declare declare : subcommands) declare(program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error) == 0 ? 0 : 2;
    return [code] { return code; };
  }
  return chosen;
}

}  // namespace hstujit::tool
