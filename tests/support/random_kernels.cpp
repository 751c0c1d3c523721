// The kernels of each room whose random problems are tried, and the count of what was compared.
#include "support/random_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

namespace hstujit::test {
namespace {

uint64_t number_in(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Room {
  std::string_view name;
  std::span<const RandomOperator> (*operators)();
  uint64_t kernels;  ///< of an operator that has so many
};
constexpr Room kRooms[] = {
    {"attention", random_attention, 20}, {"dense", random_dense, 36}, {"fp8", random_fp8, 36},
    {"jagged", random_jagged, 24},       {"norm", random_norm, 72},   {"position", random_position, 72}};

/// The problem without what differs from call to call.
Problem exact_facts(Problem problem) {
  const auto fields = fields_of(problem.op);
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].kind == FieldKind::bucket) problem.field[i] = 0;
  return problem;
}

}  // namespace

std::span<const std::string_view> random_rooms() {
  static const auto names = [] {
    std::vector<std::string_view> out;
    for (const Room& room : kRooms) out.push_back(room.name);
    return out;
  }();
  return names;
}

std::vector<RandomKernel> random_kernels(std::string_view name) {
  const Room& room = *std::ranges::find(kRooms, name, &Room::name);
  std::vector<RandomKernel> out;
  for (const RandomOperator& of : room.operators()) {
    std::vector<Problem> known;
    // Operators that few facts shape have fewer kernels.
    for (uint64_t number = 0; known.size() < room.kernels && number < 3 * room.kernels; ++number) {
      Draw draw({.op = of.op, .kernel = number}, Draw::Purpose::key);
      of.draw(draw);
      const Problem facts = exact_facts(draw.key());
      if (std::ranges::find(known, facts) != known.end()) continue;
      known.push_back(facts);
      out.push_back({room.name, of, number});
    }
  }
  return out;
}

std::string name_of_kernel(const RandomKernel& kernel) {
  return fmt::format("{}_{}", name_of(kernel.of.op), kernel.number);
}

void PrintTo(const RandomKernel& kernel, std::ostream* out) { *out << name_of_kernel(kernel); }

void expect_random_problems(const RandomKernel& kernel) {
  HSTU_NEEDS_DEVICE();
  const uint64_t problems = number_in("HSTUJIT_TEST_PROBLEMS", 20), seed = number_in("HSTUJIT_TEST_SEED", 0);
  int compared = 0;
  for (uint64_t problem = 0; problem < problems; ++problem) {
    SCOPED_TRACE(fmt::format("problem {} with HSTUJIT_TEST_SEED={}", problem, seed));
    Draw draw({kernel.of.op, kernel.number, problem, seed}, Draw::Purpose::run);
    kernel.of.draw(draw);
    if (testing::Test::HasFailure()) return;
    compared += draw.compared();
  }
  if (test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
  if (compared == 0) GTEST_SKIP() << "not on this device";
  testing::Test::RecordProperty("problems", compared);
  count_random_problems(kernel.room, compared);
}

void count_random_problems(std::string_view room, int problems) {
  struct Counts {
    int problems = 0, kernels = 0;
  };
  static std::map<std::string, Counts, std::less<>> all;
  Counts& of_room = all[std::string(room)];
  of_room.problems += problems;
  ++of_room.kernels;
  const char* const path = std::getenv("HSTUJIT_TEST_COUNTS");
  if (!path) return;
  std::string text;  // anew each time, so that a process that ends early leaves what it did
  for (const auto& [name, counts] : all)
    text += fmt::format("{}\"{}\": {{\"problems\": {}, \"kernels\": {}}}", text.empty() ? "" : ", ", name,
                        counts.problems, counts.kernels);
  std::ofstream(path) << "{" << text << "}\n";
}

}  // namespace hstujit::test
