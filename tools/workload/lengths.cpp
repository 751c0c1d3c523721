// Drawing the lengths of a batch.
#include "support/random.hpp"
#include "workload/workload.hpp"

namespace hstujit {
namespace {

std::vector<int64_t> linear(const Lengths& lengths, int64_t batch) {
  std::vector<int64_t> result;
  const int64_t steps = batch > 1 ? batch - 1 : 1;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t twice = 2 * (lengths.to - lengths.from) * b;  // rounds half up in whole numbers
    result.push_back(lengths.from + (twice + steps) / (2 * steps));
  }
  if (lengths.seed) Random(*lengths.seed).shuffle(result);
  return result;
}

std::vector<int64_t> uniform(const Lengths& lengths, int64_t batch) {
  std::vector<int64_t> result;
  Random random(lengths.seed.value_or(0));
  const auto choices = static_cast<uint64_t>(lengths.to - lengths.from + 1);
  for (int64_t b = 0; b < batch; ++b) result.push_back(lengths.from + static_cast<int64_t>(random.below(choices)));
  return result;
}

}  // namespace

std::vector<int64_t> draw(const Lengths& lengths, int64_t batch) {
  switch (lengths.kind) {
    case Lengths::Kind::linear:
      return linear(lengths, batch);
    case Lengths::Kind::uniform:
      return uniform(lengths, batch);
    case Lengths::Kind::given:
      return lengths.list;
    case Lengths::Kind::constant:
      break;
  }
  return std::vector<int64_t>(static_cast<size_t>(batch), lengths.from);
}

}  // namespace hstujit
