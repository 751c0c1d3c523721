// hstu-tune: tunes, warms, measures and inspects what libhstujit runs. One file per subcommand.
#include "hstu_tune/command.hpp"
#include "hstu_tune/messages.hpp"
#include "hstu_tune/report.hpp"
#include "support/env.hpp"
#include "support/error.hpp"
#include "support/log.hpp"

namespace {

using namespace hstujit::tool;

template <class Body>
int guarded(const Body& body) {
  try {
    return body();
  } catch (const UsageError& error) {
    say(error.what());
    return 2;
  } catch (const hstujit::Error& error) { say(error.message()); } catch (const std::exception& error) {
    say(error.what());
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  prepare_standard_streams();
  return final_code(guarded([&] {
    hstujit::set_log_level(hstujit::Environment::read().log_level);
    set_command_line(argc, argv);
    const Declare subcommands[] = {add_doctor, add_devices, add_ops,    add_run,        add_tune, add_warm,
                                   add_build,  add_pack,    add_bench,  add_verify,     add_show, add_export,
                                   add_import, add_merge,   add_report, add_first_calls};
    return parse(argc, argv, "Tunes, warms, measures and inspects the kernels of libhstujit.", subcommands)();
  }));
}
