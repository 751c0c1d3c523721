// pack: what a pack holds, and how two of them differ.
#include "jit/pack.hpp"

#include "hstu_tune/command.hpp"
#include "hstu_tune/table.hpp"
#include "jit/machine_code.hpp"
#include "records/records_text.hpp"
#include "support/error.hpp"
#include "support/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hstujit::tool {
namespace {

struct Options {
  std::string first, second;
  bool code = false;
};

/// The kernels of a pack by name and key, since one name may stand for several problems.
using Listing = std::map<std::pair<std::string, std::string>, Pack::Item>;

Listing listing(const Pack& pack) {
  Listing all;
  for (Pack::Item& item : pack.items()) {
    const std::pair key(item.kernel.name, item.unit.hex());
    all.emplace(key, std::move(item));
  }
  return all;
}

int list(const Options& options) {
  const Pack pack(options.first);
  Table table({"kernel", "key", ">registers", ">binary", "compiler"});
  for (const auto& [key, item] : listing(pack))
    table.add({key.first, key.second.substr(0, 12), fmt::format("{}", item.kernel.registers),
               fmt::format("{} KiB", item.kernel.binary.size() / 1024), item.kernel.compiler});
  table.print();
  const std::vector<Job> jobs = jobs_of_text(pack.records());
  for (const Job& job : jobs) fmt::print("record   {}  {}\n", escaped(job.device_class), text(job.problem));
  fmt::print("{}: {} kernels, {} tuned records, sound\n", options.first, listing(pack).size(), jobs.size());
  return 0;
}

/// 0 when both hold the same, 1 when they differ, like diff(1).
int diff(const Options& options) {
  const Pack first(options.first), second(options.second);
  const Listing a = listing(first), b = listing(second);
  int differences = 0;
  const auto say = [&](const char* sign, const auto& key, const char* remark) {
    ++differences;
    fmt::print("{} {} {}{}\n", sign, escaped(key.first), key.second.substr(0, 12), remark);
  };
  for (const auto& [key, item] : a) {
    const auto other = b.find(key);
    if (other == b.end())
      say("-", key, "");
    else if (other->second.contents != item.contents)
      say("~", key, other->second.kernel.compiler == item.kernel.compiler ? " differs" : " is of another compiler");
  }
  for (const auto& [key, item] : b)
    if (!a.contains(key)) say("+", key, "");
  if (first.records() != second.records()) {
    ++differences;
    fmt::print("~ tuned records differ\n");
  }
  fmt::print("{}\n", differences == 0 ? "no difference" : fmt::format("{} differences", differences));
  return differences == 0 ? 0 : 1;
}

/// How often a pack has kernels of this name with this machine code. Their keys, and so their problems, differ with the
/// text of the sources alone.
using Codes = std::map<std::pair<std::string, std::string>, int64_t>;

Codes codes_of(const Pack& pack) {
  Codes codes;
  for (const Pack::Item& item : pack.items()) {
    const std::optional<Digest> code = machine_code(item.kernel.binary);
    if (!code) fail(HSTU_ERROR_STORE, "{}: kernel \"{}\" is not machine code", pack.path(), escaped(item.kernel.name));
    ++codes[{item.kernel.name, code->hex()}];
  }
  return codes;
}

int diff_code(const Options& options) {
  const Codes a = codes_of(Pack(options.first)), b = codes_of(Pack(options.second));
  int64_t differences = 0, same = 0;
  const auto count_in = [](const Codes& codes, const Codes::key_type& key) {
    const auto found = codes.find(key);
    return found == codes.end() ? int64_t{0} : found->second;
  };
  const auto say = [&](const char* sign, const Codes::key_type& key, int64_t more) {
    if (more <= 0) return;
    differences += more;
    fmt::print("{} {} {}, {} of them\n", sign, escaped(key.first), key.second.substr(0, 12), more);
  };
  for (const auto& [key, count] : a) {
    const int64_t other = count_in(b, key);
    same += std::min(count, other);
    say("-", key, count - other);
  }
  for (const auto& [key, count] : b) say("+", key, count - count_in(a, key));
  fmt::print("{} kernels with the same machine code, {} differences\n", same, differences);
  return differences == 0 ? 0 : 1;
}

}  // namespace

void add_pack(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("pack", "List a pack, or compare two");
  command.needs_subcommand();
  Command lists = command.subcommand("list", "Kernels and records of a pack, every byte of it checked");
  lists.option("pack", options->first).required();
  lists.runs([options] { return list(*options); });
  Command compares = command.subcommand("diff", "What two packs do not share; exit code 1 when they differ");
  compares.option("first", options->first).required();
  compares.option("second", options->second).required();
  compares.flag("--code", options->code, "Machine code by kernel name alone, whatever the text of the sources");
  compares.runs([options] { return options->code ? diff_code(*options) : diff(*options); });
}

}  // namespace hstujit::tool
