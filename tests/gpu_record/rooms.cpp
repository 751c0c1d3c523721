#include "gpu_record/rooms.hpp"

#include "families/family.hpp"
#include "operators/operator_map.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <vector>

namespace hstujit::gpu_record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "tests/kernels/", kEnding = "_test.cpp";
/// In files that take operators from a table, and in those that run stacks of layers.
constexpr std::string_view kOfAll[] = {"families_for(", "all_families(", "\"support/moving.hpp\"",
                                       "\"support/sample_problems.hpp\"", "\"verify/golden.hpp\""};
constexpr std::string_view kOfStacks = "\"workload/stack_args.hpp\"";
constexpr Op kStack[] = {Op::layer_norm,  Op::addmm,          Op::norm_addmm,   Op::attention, Op::norm_mul,
                         Op::gated_addmm, Op::gated_fp8_gemm, Op::quantize_fp8, Op::fp8_gemm};
/// In files that look at launches that meet, or at replays.
constexpr std::string_view kOfLaunching = "\"support/streams.hpp\"";

struct NamedArgs {
  Op op;
  std::string_view type;
};
#define HSTUJIT_NAMED(op, args_type, function) {Op::op, #args_type},
constexpr NamedArgs kArgs[] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_NAMED)};
#undef HSTUJIT_NAMED

bool contains(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

bool is_test(const fs::path& path) { return path.string().ends_with(kEnding); }

/// The tests of the room, relative to the root.
std::vector<std::string> files_of(const Sources& sources, const std::string& room) {
  const std::string beside = std::string(kFolder) + room + std::string(kEnding);
  if (fs::exists(sources.root() / beside)) return {beside};
  std::vector<std::string> files;
  const fs::path folder = sources.root() / kFolder / room;
  if (!fs::is_directory(folder))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "room {}: there is neither {} nor a folder {}{}", room, beside, kFolder, room);
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (is_test(entry.path())) files.push_back(fs::relative(entry.path(), sources.root()).string());
  return files;
}

/// What the texts of a room's tests say about what they run.
struct Uses {
  std::set<Op> operators;
  bool all = false, launching = false;
};

Uses uses_of(Sources& sources, const std::vector<std::string>& files) {
  Uses uses;
  for (const std::string& file : files) {
    const std::string& text = sources.text(file);
    for (const NamedArgs& args : kArgs)
      if (contains(text, args.type)) uses.operators.insert(args.op);
    if (contains(text, kOfStacks)) uses.operators.insert(std::begin(kStack), std::end(kStack));
    uses.all |= std::ranges::any_of(kOfAll, [&](std::string_view word) { return contains(text, word); });
    uses.launching |= contains(text, kOfLaunching);
  }
  return uses;
}

int capability_of(std::string_view test_device) {
  const auto name = parse_gpu_name(test_device);
  if (!name) fail(HSTU_ERROR_INVALID_ARGUMENT, "device {}: tests run on cuda or cuda@sm_80", test_device);
  return name->generation.empty() ? INT_MAX : facts_of_target(name->generation).value().compute_capability;
}

}  // namespace

std::string room_of(std::string_view file) {
  const size_t at = file.rfind(kFolder);
  if (at == std::string_view::npos || !file.ends_with(kEnding))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: GPU tests are {}*{}", file, kFolder, kEnding);
  const std::string_view path = file.substr(at + kFolder.size());
  return std::string(path.substr(0, std::min(path.find('/'), path.size() - kEnding.size())));
}

std::set<std::string> rooms(const Sources& sources) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(sources.root() / kFolder))
    if (is_test(entry.path())) found.insert(room_of(entry.path().string()));
  return found;
}

std::set<std::string> dependencies(Sources& sources, const std::string& room, std::string_view test_device) {
  const std::vector<std::string> files = files_of(sources, room);
  const bool is_folder = fs::is_directory(sources.root() / kFolder / room);
  Uses uses = uses_of(sources, files);
  std::set<std::string> names;
  const std::string device_code = std::string(kFolder) + room + "_checks.cuh";
  if (sources.digest(device_code)) names.insert(device_code);
  const auto of_folder = [&](const Family* family) { return family->room == room; };
  if (names.empty() && uses.operators.empty() && std::ranges::none_of(all_families(), of_folder)) uses.all = true;
  const int capability = capability_of(test_device);
  for (const Family* family : all_families())
    if (family->min_compute_capability <= capability &&
        (uses.all || of_folder(family) || uses.operators.contains(family->op)))
      names.emplace(family->name);
  if (!is_folder && (uses.launching || uses.all)) names.emplace(kLaunching);
  return names;
}

}  // namespace hstujit::gpu_record
