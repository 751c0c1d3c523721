// Parameters of addmm_dpre_sm80. Strides are in elements.
#pragma once

namespace hstu {

// dpre = dout * act'(pre) on columns [0, act_columns), dout on the others
struct AddmmDpreParams {
  const void* pre;                                             // [m, n]
  const void* dout;                                            // [m, n]
  void* dpre;                                                  // [m, n]
  long long elements;                                          // of the columns that are written
  long long columns;                                           // as many; read only when rows are strided
  long long pre_row_stride, dout_row_stride, dpre_row_stride;  // likewise
  long long act_columns;                                       // read only with Config::kPartial
};
static_assert(sizeof(AddmmDpreParams) == 72, "host and device disagree about AddmmDpreParams");

}  // namespace hstu
