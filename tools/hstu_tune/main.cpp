// hstu-tune: tunes, warms, measures and inspects what libhstujit runs. One file per subcommand.
#include "hstu_tune/command.hpp"
#include "hstu_tune/report.hpp"
#include "support/error.hpp"

#include <cstdio>

namespace {

using namespace hstujit::tool;

int guarded(const Action& action) {
  try {
    return action();
  } catch (const UsageError& error) {
    fmt::print(stderr, "hstu-tune: {}\n", error.what());
    return 2;
  } catch (const hstujit::Error& error) {
    fmt::print(stderr, "hstu-tune: {}\n", error.message());
  } catch (const std::exception& error) { fmt::print(stderr, "hstu-tune: {}\n", error.what()); }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  set_command_line(argc, argv);
  const Declare subcommands[] = {add_doctor, add_devices, add_ops,    add_run,        add_tune, add_warm,
                                 add_build,  add_pack,    add_bench,  add_verify,     add_show, add_export,
                                 add_import, add_merge,   add_report, add_first_calls};
  return guarded(parse(argc, argv, "Tunes, warms, measures and inspects the kernels of libhstujit.", subcommands));
}
