#include "operators/dense/operand.hpp"

namespace hstujit {

Operand operand_of(hstu_tensor& t, int k) {
  int contiguous = 1;
  if (t.stride[1] != 1) {
    if (t.stride[0] != 1 && t.shape[0] > 1) return {};
    t.stride[0] = 1;
    contiguous = 0;
  }
  checks::Vector vector(t.dtype);
  vector.address(t).length(t.stride[1 - contiguous]).length(t.shape[contiguous]);
  vector.lines(t.shape[1 - contiguous], t.stride[1 - contiguous], t.shape[contiguous]);
  return {contiguous == k, vector.elements()};
}

}  // namespace hstujit
