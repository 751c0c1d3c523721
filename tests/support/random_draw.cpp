#include "support/random_draw.hpp"

#include "tuner/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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
  return {t.data, t.dtype, 1, 0, {count}, {t.stride[0]}};
}

hstu_tensor Draw::matrix(hstu_dtype dtype, int64_t rows, int64_t columns, Contents contents, double mean,
                         double deviation) {
  return filled(memory.poison(dtype, {rows, columns}, layout(dtype, columns)), contents, mean, deviation);
}

hstu_tensor Draw::ordered_matrix(hstu_dtype dtype, int64_t rows, int64_t columns, double deviation) {
  switch (kernel.below(6)) {
    case 5: {  // one line, as often as there are lines
      hstu_tensor t = matrix(dtype, 1, columns, Contents::normal, 0, deviation);
      t.shape[0] = rows;
      t.stride[0] = 0;
      t.flags = HSTU_STRIDES_GIVEN;
      return t;
    }
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
  return {t.data, t.dtype, 3, 0, {count, rows, columns}, {(rows + gap) * t.stride[0], t.stride[0], 1}};
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

std::string Draw::name_of_candidate(const Candidate& candidate) {
  return fmt::format("{} {}", candidate.family->name, text(*candidate.family, candidate.config));
}

std::vector<Draw::Candidate> Draw::drawn_candidates() const {
  std::vector<Candidate> drawn;
  const char* const seed = std::getenv("HSTUJIT_TEST_CONFIG");
  if (!seed || test_device()->cpu) return drawn;
  const DeviceFacts& facts = test_device()->facts();
  Choices choices(seed_of(which_, false) + std::strtoull(seed, nullptr, 10));
  for (const Family* family : families_for(key_, facts)) {
    const Space space = enumerate(*family, key_, facts);
    const auto index = static_cast<size_t>(choices.below(static_cast<int64_t>(space.size())));
    if (index > 0) drawn.push_back({family, space.points()[index]});
  }
  return drawn;
}

size_t Draw::elements_of(const hstu_tensor& t) {
  int64_t elements = 1;
  for (int d = 0; d < t.rank; ++d) elements *= t.shape[d];
  return static_cast<size_t>(elements);
}

void Draw::allow_for_few(const hstu_tensor& t, Tolerance& tolerance) {
  const size_t elements = elements_of(t);
  const auto dtype = static_cast<hstu_dtype>(t.dtype);
  if (elements / static_cast<size_t>(std::max<int64_t>(t.shape[0], 1)) < kFewElements && tolerance.steps_of_element > 0)
    tolerance.ulps_of_row = std::max(tolerance.ulps_of_row, (dtype == HSTU_DTYPE_E4M3 || dtype == HSTU_DTYPE_E5M2)
                                                                ? rounded_to_fp8_of_few(dtype).ulps_of_row
                                                                : rounded_once_of_few(dtype).ulps_of_row);
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

}  // namespace hstujit::test
