// Host tensors for tests: views into slabs of memory in which everything but the tensor's elements is poison.
#pragma once

#include "support/element.hpp"
#include "support/random.hpp"

#include <hstujit/hstujit.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <initializer_list>
#include <vector>

namespace hstujit::test {

/// How a tensor lies in its slab, in elements.
struct Layout {
  int64_t row_padding = 0;  ///< between rows, beyond the dense row
  int64_t shift = 0;        ///< of the first element from a 256-byte boundary: breaks alignment
};

/// One block of memory, filled with ones: NaN in every floating-point format, -1 for integers.
struct Slab {
  std::vector<std::byte> bytes;
  size_t first = 0;  ///< the first 256-byte boundary in it that leaves room for a guard band
  size_t used = 0;   ///< bytes from there to the second guard band

  std::byte* base() { return bytes.data() + first; }
};

/// Owns the memory of a test's tensors; they stay valid as long as it lives.
class HostMemory {
 public:
  explicit HostMemory(uint64_t seed = 1) : random_(seed) {}

  /// A poisoned slab that holds this many bytes between guard bands of 512.
  Slab& slab(int64_t bytes);

  /// A tensor of poison, for outputs.
  hstu_tensor poison(hstu_dtype dtype, std::initializer_list<int64_t> shape, Layout layout = {});
  /// A tensor of bell-shaped random numbers around `mean`, in a slab of poison.
  hstu_tensor random(hstu_dtype dtype, std::initializer_list<int64_t> shape, Layout layout = {}, double mean = 0,
                     double deviation = 1);
  /// A tensor of random bits in a slab of poison: NaN, infinities, negative zeros and denormals among them.
  hstu_tensor scrambled(hstu_dtype dtype, std::initializer_list<int64_t> shape, Layout layout = {});
  hstu_tensor integers(hstu_dtype dtype, const std::vector<int64_t>& values);
  hstu_tensor floats(const std::vector<float>& values);

  std::deque<Slab>& slabs() { return slabs_; }
  Random& random_numbers() { return random_; }

 private:
  std::deque<Slab> slabs_;
  Random random_;
};

/// Calls body with the element offset, from the tensor's data, of every dense run along its last dimension.
void for_each_run(const hstu_tensor& t, const std::function<void(int64_t offset, int64_t count)>& body);

/// Sets all elements of a tensor to bell-shaped random numbers.
void randomise(const hstu_tensor& t, Random& random, double mean = 0, double deviation = 1);
/// Sets all elements of a tensor to random bits.
void scramble(const hstu_tensor& t, Random& random);
/// Sets all elements of a tensor to one value.
void fill(const hstu_tensor& t, double value);

/// The tensor's elements in row-major order.
std::vector<double> values(const hstu_tensor& t);

/// Rows [first, first + count) of a tensor; columns of a matrix.
hstu_tensor rows_of(const hstu_tensor& t, int64_t first, int64_t count);
hstu_tensor columns_of(const hstu_tensor& matrix, int64_t first, int64_t count);
/// The same memory with the first two dimensions exchanged.
hstu_tensor transposed(hstu_tensor t);
/// The same memory as [rows, heads, columns / heads].
hstu_tensor as_heads(const hstu_tensor& matrix, int64_t heads);

/// Prefix sums from 0.
std::vector<int64_t> offsets_of(const std::vector<int64_t>& lengths);

}  // namespace hstujit::test
