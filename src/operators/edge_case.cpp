#include "operators/edge_case.hpp"

#include "operators/operators.hpp"

#include <algorithm>

namespace hstujit::edge_case {

int64_t ragged(int64_t rows) {
  const int64_t fewer = rows - std::min<int64_t>(rows / 4, 37);
  return rows >= 4 ? fewer - (fewer + 1) % 2 : rows;
}

void shorten_rows(int64_t rows, std::initializer_list<hstu_tensor*> tensors) {
  for (hstu_tensor* t : tensors)
    if (present(*t)) t->shape[0] = rows;
}

int64_t ragged_length(size_t index, size_t batch, int64_t length) {
  if (batch < 4) return ragged(length);
  switch (index % 4) {
    case 0:
      return 0;
    case 1:
      return std::min<int64_t>(length, 1);
    case 2:
      return length - length / 3;
    default:
      return length;
  }
}

void make_ragged(std::vector<int64_t>& offsets, std::vector<int64_t>& targets) {
  if (offsets.empty()) return;
  const std::vector<int64_t> before = offsets;
  const size_t batch = offsets.size() - 1;
  for (size_t b = 0; b < batch; ++b) {
    const int64_t length = ragged_length(b, batch, before[b + 1] - before[b]);
    offsets[b + 1] = offsets[b] + length;
    if (!targets.empty()) targets[b] = std::min(targets[b], length);
  }
}

}  // namespace hstujit::edge_case
