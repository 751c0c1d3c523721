#include "families/jagged/jagged_lengths.hpp"

#include <algorithm>

namespace hstujit::jagged_lengths {
namespace {

int64_t row_accesses(const Problem& p) { return std::max(p[kRowBytes] / p[kAccessBytes], 1); }

}  // namespace

int64_t block_rows(const Problem& p, const Config& c) {
  return std::max<int64_t>(int64_t{c[kThreads]} * c[kRounds] / row_accesses(p), 1);
}

bool blocks_have_rows(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kRounds] == 1 || block_rows(p, c) > 1;
}

bool covers(const Problem&, const DeviceFacts&) { return true; }

void write_types(ConfigText& text, const Problem& p) {
  const auto type = [](int32_t dtype) {
    return dtype == HSTU_DTYPE_NONE ? std::string_view("tile::Dense") : device_type(static_cast<hstu_dtype>(dtype));
  };
  text.type("LeftLength", type(p[kLeftLength]));
  text.type("RightLength", type(p[kRightLength]));
  text.type("Offset", type(p[kOffset]));
}

void write_facts(ConfigText& text, const Problem& p, const Config& c) {
  write_types(text, p);
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kRowAccesses", row_accesses(p));
  text.constant("kThreads", c[kThreads]);
  text.constant("kRows", block_rows(p, c));
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, Launch& launch) {
  auto& p = launch.emplace<hstu::JaggedLengthsParams>();
  const auto row_stride = [](const hstu_tensor& t) { return t.stride[0] * checks::element_bytes(t.dtype); };
  p.left_lengths = left_lengths.data;
  p.left = left.data;
  p.left_row_stride = row_stride(left);
  if (right) {
    p.right = right->data;
    p.right_row_stride = row_stride(*right);
  }
  p.combined = combined.data;
  p.combined_row_stride = row_stride(combined);
  p.rows = combined.shape[0];
  p.batch = static_cast<int>(left_lengths.shape[0]);
  return p;
}

}  // namespace hstujit::jagged_lengths
