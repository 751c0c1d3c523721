#include "operators/integers.hpp"

#include "support/error.hpp"

namespace hstujit::reference {

std::vector<int64_t> read_offsets(const char* name, const hstu_tensor& t, int64_t rows) {
  std::vector<int64_t> offsets;
  for (int64_t b = 0; b < t.shape[0]; ++b) {
    offsets.push_back(integer_at(t, b));
    const int64_t before = b == 0 ? 0 : offsets[static_cast<size_t>(b) - 1];
    if (b == 0 && offsets[0] != 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[0] = {}: offsets start at 0", name, offsets[0]);
    if (offsets.back() < before || offsets.back() > rows)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[{}] = {}: offsets never decrease (here from {}) nor pass the {} rows", name,
           b, offsets.back(), before, rows);
  }
  return offsets;
}

void check_offsets(const char* name, const hstu_tensor& t, int64_t total, const char* what) {
  if (const int64_t first = integer_at(t, 0); first != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[0] = {}: offsets start at 0", name, first);
  for (int64_t b = 0; b + 1 < t.shape[0]; ++b) {
    const int64_t begin = integer_at(t, b), end = integer_at(t, b + 1);
    if (end < begin || end > total)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[{}] = {}: offsets never decrease (here from {}) nor pass {} = {}", name,
           b + 1, end, begin, what, total);
  }
}

std::vector<int64_t> sum_lengths(const char* name, const hstu_tensor& t, int64_t rows, int64_t least) {
  std::vector<int64_t> offsets{0};
  for (int64_t b = 0; b < t.shape[0]; ++b) {
    const int64_t length = integer_at(t, b);
    if (length < least || length > rows - offsets.back())
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[{}] = {}: each is at least {}, and all add up to the {} rows", name, b,
           length, least, rows);
    offsets.push_back(offsets.back() + length);
  }
  if (offsets.back() != rows)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: its lengths add up to {}, not to the {} rows", name, offsets.back(), rows);
  return offsets;
}

std::vector<int64_t> dense_offsets(int64_t batch, int64_t length) {
  std::vector<int64_t> offsets;
  for (int64_t b = 0; b <= batch; ++b) offsets.push_back(b * length);
  return offsets;
}

void check_counts(const char* name, const hstu_tensor& t) {
  for (int64_t b = 0; present(t) && b < t.shape[0]; ++b)
    if (const int64_t count = integer_at(t, b); count < 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[{}] = {}: it must not be negative", name, b, count);
}

}  // namespace hstujit::reference
