#include "support/host_tensor.hpp"

#include "operators/operators.hpp"

#include <algorithm>
#include <cstring>

namespace hstujit::test {
namespace {

constexpr size_t kAlignment = 256, kGuard = 512;

hstu_tensor dense(hstu_dtype dtype, std::initializer_list<int64_t> shape, const Layout& layout) {
  hstu_tensor t{};
  t.dtype = dtype;
  t.rank = static_cast<int16_t>(shape.size());
  std::copy(shape.begin(), shape.end(), t.shape);
  int64_t stride = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    t.stride[d] = d == 0 && t.rank > 1 ? stride + layout.row_padding : stride;
    stride *= t.shape[d];
  }
  return t;
}

}  // namespace

void for_each_run(const hstu_tensor& t, const std::function<void(int64_t offset, int64_t count)>& body) {
  int64_t runs = 1;
  for (int d = 0; d + 1 < t.rank; ++d) runs *= t.shape[d];
  for (int64_t run = 0; run < runs; ++run) {
    int64_t offset = 0, rest = run;
    for (int d = t.rank - 2; d >= 0; rest /= t.shape[d--]) offset += rest % t.shape[d] * t.stride[d];
    body(offset, t.shape[t.rank - 1]);
  }
}

Slab& HostMemory::slab(int64_t bytes) {
  Slab& slab = slabs_.emplace_back();
  slab.bytes.assign(static_cast<size_t>(bytes) + 2 * kGuard + kAlignment, std::byte{0xff});
  const auto after_guard = reinterpret_cast<uintptr_t>(slab.bytes.data()) + kGuard;
  slab.first = kGuard + (kAlignment - after_guard % kAlignment) % kAlignment;
  slab.used = static_cast<size_t>(bytes);
  return slab;
}

hstu_tensor HostMemory::poison(hstu_dtype dtype, std::initializer_list<int64_t> shape, Layout layout) {
  hstu_tensor t = dense(dtype, shape, layout);
  const int64_t shift = layout.shift * size_of(dtype);
  t.data = slab(shift + extent_bytes(t)).base() + shift;
  return t;
}

hstu_tensor HostMemory::random(hstu_dtype dtype, std::initializer_list<int64_t> shape, Layout layout, double mean,
                               double deviation) {
  const hstu_tensor t = poison(dtype, shape, layout);
  randomise(t, random_, mean, deviation);
  return t;
}

hstu_tensor HostMemory::scrambled(hstu_dtype dtype, std::initializer_list<int64_t> shape, Layout layout) {
  const hstu_tensor t = poison(dtype, shape, layout);
  scramble(t, random_);
  return t;
}

hstu_tensor HostMemory::integers(hstu_dtype dtype, const std::vector<int64_t>& values) {
  const hstu_tensor t = poison(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    if (dtype == HSTU_DTYPE_I32)
      static_cast<int32_t*>(t.data)[i] = static_cast<int32_t>(values[i]);
    else
      static_cast<int64_t*>(t.data)[i] = values[i];
  return t;
}

hstu_tensor HostMemory::floats(const std::vector<float>& values) {
  const hstu_tensor t = poison(HSTU_DTYPE_F32, {static_cast<int64_t>(values.size())});
  if (!values.empty()) std::memcpy(t.data, values.data(), values.size() * sizeof(float));
  return t;
}

void randomise(const hstu_tensor& t, Random& random, double mean, double deviation) {
  std::vector<double> run;
  for_each_run(t, [&](int64_t offset, int64_t count) {
    run.resize(static_cast<size_t>(count));
    for (double& value : run) value = mean + deviation * static_cast<double>(random.bell());
    store(t, offset, count, run.data());
  });
}

void scramble(const hstu_tensor& t, Random& random) {
  const auto size = static_cast<int64_t>(size_of(t.dtype));
  for_each_run(t, [&](int64_t offset, int64_t count) {
    auto* const bytes = static_cast<unsigned char*>(t.data) + offset * size;
    for (int64_t i = 0; i < count * size; ++i) bytes[i] = static_cast<unsigned char>(random.bits() >> 9);
  });
}

void fill(const hstu_tensor& t, double value) {
  const std::vector<double> run(static_cast<size_t>(t.shape[t.rank - 1]), value);
  for_each_run(t, [&](int64_t offset, int64_t count) { store(t, offset, count, run.data()); });
}

std::vector<double> values(const hstu_tensor& t) {
  std::vector<double> out;
  for_each_run(t, [&](int64_t offset, int64_t count) {
    out.resize(out.size() + static_cast<size_t>(count));
    load(t, offset, count, out.data() + out.size() - count);
  });
  return out;
}

hstu_tensor rows_of(const hstu_tensor& t, int64_t first, int64_t count) {
  hstu_tensor out = t;
  out.data = static_cast<std::byte*>(t.data) + first * t.stride[0] * size_of(t.dtype);
  out.shape[0] = count;
  return out;
}

hstu_tensor columns_of(const hstu_tensor& matrix, int64_t first, int64_t count) {
  hstu_tensor out = matrix;
  out.data = static_cast<std::byte*>(matrix.data) + first * size_of(matrix.dtype);
  out.shape[1] = count;
  return out;
}

hstu_tensor transposed(hstu_tensor t) {
  std::swap(t.shape[0], t.shape[1]);
  std::swap(t.stride[0], t.stride[1]);
  return t;
}

hstu_tensor as_heads(const hstu_tensor& matrix, int64_t heads) {
  const int64_t dim = matrix.shape[1] / heads;
  return {matrix.data, matrix.dtype, 3, 0, {matrix.shape[0], heads, dim}, {matrix.stride[0], dim, 1}};
}

std::vector<int64_t> offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> out{0};
  for (const int64_t length : lengths) out.push_back(out.back() + length);
  return out;
}

}  // namespace hstujit::test
