// Per-block scales of FP8 tensors: one for 128 rows, counted from row 0 of the tensor on (Config::kBlockScales).
// Sequences begin anywhere in them. A Config that says nothing has per-sequence, per-head or per-tensor scales.
#pragma once
#include "prim/types.cuh"

namespace hstu::variant {

enum : int { kScaleRows = 128 };

template <class Config>
HSTU_PRIM constexpr auto block_scales(int) -> decltype(Config::kBlockScales || false) {
  return Config::kBlockScales;
}
template <class Config>
HSTU_PRIM constexpr bool block_scales(long) {
  return false;
}

// By how much the first blocks of a plan's ranges are shorter than others: nothing, or what makes the others begin
// where blocks of the tensor do, so that none has keys of two scales.
template <int kBlockN, bool kAligned>
struct BlockLeads {
  enum : int { lower_lead = 0, upper_lead = 0 };
  HSTU_PRIM void set_leads(i64, int, int) {}
};
template <int kBlockN>
struct BlockLeads<kBlockN, true> {
  static_assert(kScaleRows % kBlockN == 0, "a key block has one scale");
  int lower_lead, upper_lead;
  // start: row of the tensor that is the sequence's position 0.
  HSTU_PRIM void set_leads(i64 start, int lower_begin, int upper_begin) {
    lower_lead = static_cast<int>(start + lower_begin) & (kBlockN - 1);
    upper_lead = static_cast<int>(start + upper_begin) & (kBlockN - 1);
  }
};

}  // namespace hstu::variant
