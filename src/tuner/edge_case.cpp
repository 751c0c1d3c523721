#include "tuner/edge_case.hpp"

#include <algorithm>

namespace hstujit {
namespace {

/// Somewhat fewer rows, and an odd number of them: no multiple of any tile.
int64_t ragged(int64_t rows) {
  const int64_t fewer = rows - std::min<int64_t>(rows / 4, 37);
  return rows >= 4 ? fewer - (fewer + 1) % 2 : rows;
}

void shorten(hstu_tensor& t, int64_t rows) {
  if (present(t)) t.shape[0] = rows;
}

void shorten_rows(hstu_layer_norm_args& a) {
  const int64_t rows = ragged(a.x.shape[0]);
  for (hstu_tensor* t : {&a.x, &a.y}) shorten(*t, rows);
}

void shorten_rows(hstu_norm_mul_args& a) {
  const int64_t rows = ragged(a.attn.shape[0]);
  for (hstu_tensor* t : {&a.attn, &a.u, &a.out}) shorten(*t, rows);
}

void shorten_rows(hstu_addmm_args& a) {
  const int64_t rows = ragged(a.x.shape[0]);
  for (hstu_tensor* t : {&a.x, &a.z}) shorten(*t, rows);
  if (a.y.rank == 2) shorten(a.y, rows);
}

/// Every fourth sequence is empty, the next has one row, the next a ragged part of its rows, the next all of them.
int64_t edge_length(size_t sequence, size_t batch, int64_t length) {
  if (batch < 4) return ragged(length);
  switch (sequence % 4) {
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
    const int64_t length = edge_length(b, batch, before[b + 1] - before[b]);
    offsets[b + 1] = offsets[b] + length;
    if (!targets.empty()) targets[b] = std::min(targets[b], length);
  }
}

size_t slot_of(const Operator& op, std::string_view name) {
  size_t slot = 0;
  while (op.tensors[slot].name != name) ++slot;
  return slot;
}

}  // namespace

void make_edge_case(const Operator& op, void* args, Integers& integers) {
  switch (op.op) {
    case Op::layer_norm:
      return shorten_rows(*static_cast<hstu_layer_norm_args*>(args));
    case Op::addmm:
      return shorten_rows(*static_cast<hstu_addmm_args*>(args));
    case Op::norm_mul:
      return shorten_rows(*static_cast<hstu_norm_mul_args*>(args));
    case Op::hstu_attention:
      return make_ragged(integers[slot_of(op, "seq_offsets")], integers[slot_of(op, "num_targets")]);
  }
}

}  // namespace hstujit
