#include "support/large.hpp"

#include "capi/handle.hpp"
#include "records/choose.hpp"

#include <algorithm>
#include <numeric>

namespace hstujit::test {
namespace {

size_t row_bytes(const hstu_tensor& t) { return static_cast<size_t>(t.stride[0] * size_of(t.dtype)); }
std::byte* host_row(const hstu_tensor& t, int64_t i) {
  return static_cast<std::byte*>(t.data) + i * t.stride[0] * size_of(t.dtype);
}

}  // namespace

void LargeMemory::upload_rows(std::byte* to, const hstu_tensor& from, int64_t stride) {
  for (int64_t i = 0; i < from.shape[0]; ++i)
    memory_->upload(to + i * stride * size_of(from.dtype), host_row(from, i), row_bytes(from));
}
void LargeMemory::download_rows(const hstu_tensor& to, const std::byte* from, int64_t stride) {
  for (int64_t i = 0; i < to.shape[0]; ++i)
    memory_->download(host_row(to, i), from + i * stride * size_of(to.dtype), row_bytes(to));
}

hstu_tensor repeated(LargeMemory& memory, const hstu_tensor& host, int64_t rows) {
  const int64_t row_bytes = host.stride[0] * size_of(host.dtype), bytes = rows * row_bytes;
  std::byte* const base = memory.allocate(bytes);
  int64_t done = std::min(host.shape[0] * row_bytes, bytes);
  (*memory).upload(base, host.data, static_cast<size_t>(done));
  while (done < bytes) {
    const int64_t more = std::min(done, bytes - done);
    (*memory).copy(base + done, base, static_cast<size_t>(more));
    done += more;
  }
  hstu_tensor t = host;
  t.data = base;
  t.shape[0] = rows;
  return t;
}

void expect_periods(LargeMemory& memory, const hstu_tensor& large, const hstu_tensor& period, const Exact& exact,
                    const Tolerance& tolerance) {
  const int64_t row = large.stride[0], count = period.shape[0], periods = large.shape[0] / count;
  for (const int64_t element : {int64_t{0}, int64_t{1} << 30, int64_t{1} << 31, row * (large.shape[0] - 1)}) {
    const int64_t index = std::min(element / row / count, periods - 1);
    const std::byte* from = static_cast<const std::byte*>(large.data) + index * count * row * size_of(large.dtype);
    memory.download_rows(period, from, row);
    EXPECT_TRUE(close(period, exact, tolerance)) << "in period " << index;
  }
}

std::string choice_for(const Problem& problem) {
  return text(test_device()->context->context.plan_for(problem, nullptr, nullptr).choice);
}

int64_t many_rows(int64_t row_length, int64_t period) {
  return ((int64_t{1} << 31) / row_length / period + 2) * period;
}

PeriodicSequences::PeriodicSequences(HostMemory& host, int64_t rows, const std::vector<int64_t>& lengths) {
  const int64_t period = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  std::vector<int64_t> all;
  for (int64_t i = 0; i < rows / period; ++i) all.insert(all.end(), lengths.begin(), lengths.end());
  one = host.integers(HSTU_DTYPE_I64, offsets_of(lengths));
  many = host.integers(HSTU_DTYPE_I64, offsets_of(all));
}

}  // namespace hstujit::test
