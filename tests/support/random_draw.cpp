#include "support/random_draw.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <span>

namespace hstujit::test {
namespace {

/// Streams of their own for each kernel, and for each of its problems.
uint64_t seed_of(const Draw::Which& which, bool problem) {
  Random random(static_cast<uint64_t>(which.op) << 32 | which.kernel);
  const uint64_t kernel = random.bits();
  if (!problem) return kernel;
  return Random(kernel ^ Random(which.seed << 32 | which.problem).bits()).bits();
}

/// "x bf16 [3, 416] stride [432, 1] shift 8" of each tensor.
std::string text_of(const TensorSlot& slot, const hstu_tensor& t) {
  const std::span shape(t.shape, static_cast<size_t>(t.rank)), stride(t.stride, static_cast<size_t>(t.rank));
  return fmt::format("\n  {} {} [{}] stride [{}] shift {}", slot.name, name_of(static_cast<hstu_dtype>(t.dtype)),
                     fmt::join(shape, ", "), fmt::join(stride, ", "),
                     reinterpret_cast<uintptr_t>(t.data) % 256 / static_cast<uintptr_t>(size_of(t.dtype)));
}

}  // namespace

Draw::Draw(const Which& which, Purpose purpose)
    : kernel(seed_of(which, false)),
      problem(seed_of(which, true)),
      memory(seed_of(which, true) + 1),
      which_(which),
      purpose_(purpose),
      aligned_(kernel.below(3) > 0),
      turns_(which.kernel) {}

int64_t Draw::width() {
  switch (kernel.below(8)) {
    case 0:
      return kernel.up_to(8);
    case 1:
      return kernel.any<int64_t>({64, 128, 256, 512, 1024, 2048, 4096});
    case 2:
      return kernel.up_to(600);
    case 3:
    case 4:
      return 8 * kernel.up_to(64);
    case 5:
      return 8 * kernel.up_to(625);
    default:
      return kernel.up_to(5000);
  }
}

int64_t Draw::rows(int64_t columns, int64_t most) {
  return problem.up_to(std::clamp<int64_t>(30'000 / std::max<int64_t>(columns, 1), 3, most));
}

int64_t Draw::in_octave(int64_t most) {
  int64_t octaves = 0;
  while (int64_t{1} << octaves < most) ++octaves;
  const int64_t high = int64_t{1} << kernel.below(octaves + 1);
  return std::min(high - problem.below(std::max<int64_t>(high / 2, 1)), most);
}

Layout Draw::layout(hstu_dtype dtype, int64_t columns) {
  const int64_t bytes = aligned_ ? kernel.any<int64_t>({32, 16}) : kernel.any<int64_t>({16, 16, 8, 4, 2, 1});
  const int64_t unit = std::max<int64_t>(bytes / size_of(dtype), 1);
  const bool whole = unit * size_of(dtype) >= 16, dense = kernel.coin();
  Layout layout;
  // Never better aligned than that: the kernel is one for all of its problems.
  layout.shift = unit * (whole ? problem.below(3) : 1 + 2 * problem.below(3));
  if (!dense) layout.row_padding = (unit - columns % unit) % unit + unit * problem.below(4);
  return layout;
}

hstu_tensor Draw::filled(const hstu_tensor& t, Contents contents, double mean, double deviation) {
  if (!runs() || contents == Contents::poison) return t;
  if (contents == Contents::bits)
    scramble(t, memory.random_numbers());
  else
    randomise(t, memory.random_numbers(), mean, deviation);
  return t;
}

hstu_tensor Draw::vector(hstu_dtype dtype, int64_t count, Contents contents, double mean, double deviation) {
  return filled(memory.poison(dtype, {count}, {.shift = layout(dtype, count).shift}), contents, mean, deviation);
}

hstu_tensor Draw::strided_vector(hstu_dtype dtype, int64_t count, double mean) {
  if (!kernel.seldom()) return vector(dtype, count, Contents::normal, mean);
  const hstu_tensor t = matrix(dtype, count, 2, Contents::normal, mean);
  return {t.data, t.dtype, 1, {count}, {t.stride[0]}};
}

hstu_tensor Draw::matrix(hstu_dtype dtype, int64_t rows, int64_t columns, Contents contents, double mean,
                         double deviation) {
  return filled(memory.poison(dtype, {rows, columns}, layout(dtype, columns)), contents, mean, deviation);
}

hstu_tensor Draw::ordered_matrix(hstu_dtype dtype, int64_t rows, int64_t columns, double deviation) {
  switch (kernel.below(5)) {
    case 0: {
      hstu_tensor t = matrix(dtype, rows, 2 * columns, Contents::normal, 0, deviation);
      t.shape[1] = columns;
      t.stride[1] = 2;
      return t;
    }
    case 1:
    case 2:
      return transposed(matrix(dtype, columns, rows, Contents::normal, 0, deviation));
    default:
      return matrix(dtype, rows, columns, Contents::normal, 0, deviation);
  }
}

hstu_tensor Draw::matrices(hstu_dtype dtype, int64_t count, int64_t rows, int64_t columns, Contents contents) {
  const int64_t gap = kernel.seldom() ? problem.up_to(2) : 0;
  const hstu_tensor t = matrix(dtype, count * (rows + gap), columns, contents);
  return {t.data, t.dtype, 3, {count, rows, columns}, {(rows + gap) * t.stride[0], t.stride[0], 1}};
}

hstu_tensor Draw::integers(hstu_dtype dtype, const std::vector<int64_t>& values) {
  const auto count = static_cast<int64_t>(values.size());
  const hstu_tensor t = memory.poison(dtype, {count}, {.shift = kernel.below(3)});
  for (int64_t i = 0; i < count; ++i)
    if (dtype == HSTU_DTYPE_I32)
      static_cast<int32_t*>(t.data)[i] = static_cast<int32_t>(values[static_cast<size_t>(i)]);
    else
      static_cast<int64_t*>(t.data)[i] = values[static_cast<size_t>(i)];
  return t;
}

hstu_tensor Draw::counts(int64_t count, int64_t most) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(problem.below(most + 1));
  return integers(values);
}

std::vector<int64_t> Draw::lengths(int64_t most_sequences, int64_t longest, int64_t least) {
  std::vector<int64_t> out(static_cast<size_t>(problem.up_to(most_sequences)));
  for (int64_t& length : out) length = std::max(problem.below(5) == 0 ? least : problem.below(longest + 1), least);
  return out;
}

size_t Draw::elements_of(const hstu_tensor& t) {
  int64_t elements = 1;
  for (int d = 0; d < t.rank; ++d) elements *= t.shape[d];
  return static_cast<size_t>(elements);
}

void Draw::allow_for_few(size_t elements, Tolerance& tolerance) {
  if (elements < 5000) tolerance.frobenius *= 1 + std::sqrt(200 / static_cast<double>(std::max<size_t>(elements, 1)));
  if (elements < 200) tolerance.frobenius *= 1e6;
}

void Draw::describe(Op op, const void* args) {
  const Operator& entry = operator_of(op);
  description_ = fmt::format("kernel {} of {}, problem {} with HSTUJIT_TEST_SEED={}: {}", which_.kernel, entry.name,
                             which_.problem, which_.seed, text(key_));
  for (const TensorSlot& slot : entry.tensors)
    if (const hstu_tensor& t = tensor_at(args, slot); present(t)) description_ += text_of(slot, t);
}

// ---- Kernels of the rooms

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
