// What FP8 costs a product in exactness, in two parts: quantisation, the distance of the quantised operands' product in
// double precision from the operands' own; and accumulation, the distance of the device's from that of the quantised
// operands. Relative, by root mean squares, of normal data.
#include "hstu_tune/bench.hpp"
#include "operators/operators.hpp"
#include "support/element.hpp"
#include "support/error.hpp"
#include "support/random.hpp"
#include "workload/memory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <deque>

namespace hstujit::tool {
namespace {

constexpr int64_t kM = 256, kN = 192;

struct Scales {
  const char* name;
  hstu_fp8_scaling a, b;
};
constexpr Scales kRows{"rows", HSTU_FP8_ROW, HSTU_FP8_ROW}, kBlocks{"blocks", HSTU_FP8_GROUP, HSTU_FP8_BLOCK};

using Values = std::vector<double>;

double norm(const Values& x) {
  double squares = 0;
  for (const double e : x) squares += e * e;
  return std::sqrt(squares);
}
double distance(Values a, const Values& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a) / norm(b);
}

/// Matrices in host memory.
class Host {
 public:
  hstu_tensor matrix(hstu_dtype dtype, int64_t rows, int64_t columns, int64_t element_bytes) {
    bytes_.emplace_back(static_cast<size_t>(rows * columns * element_bytes));
    return hstu_matrix(bytes_.back().data(), dtype, rows, columns);
  }
  hstu_tensor normal(int64_t rows, int64_t columns, double deviation) {
    Values values(static_cast<size_t>(rows * columns));
    for (double& e : values) e = deviation * static_cast<double>(random_.bell());
    const hstu_tensor t = matrix(HSTU_DTYPE_F32, rows, columns, 4);
    store(t, 0, rows * columns, values.data());
    return t;
  }

 private:
  std::deque<std::vector<std::byte>> bytes_;
  Random random_{1};
};

struct Quantised {
  hstu_tensor q, descale;
};
Quantised quantised(Host& host, const hstu_tensor& x, hstu_fp8_scaling scaling) {
  const int64_t rows = x.shape[0], columns = x.shape[1], across = (columns + 127) / 128;
  hstu_quantize_fp8_args args{};
  args.struct_size = sizeof args;
  args.x = x;
  args.q = host.matrix(HSTU_DTYPE_E4M3, rows, columns, 1);
  args.descale = host.matrix(HSTU_DTYPE_F32, scaling == HSTU_FP8_BLOCK ? (rows + 127) / 128 : rows,
                             scaling == HSTU_FP8_ROW ? 1 : across, 4);
  if (scaling == HSTU_FP8_ROW) args.descale = hstu_vector(args.descale.data, HSTU_DTYPE_F32, rows);
  args.scaling = scaling;
  prepare(args);
  reference::run(args);
  return {args.q, args.descale};
}

/// out = x w^T in double precision.
template <class Args>
Values exact_product(Args args) {
  prepare(args);
  Values exact(static_cast<size_t>(kM * kN));
  double* buffers[] = {exact.data(), nullptr, nullptr, nullptr};  // of all parts of the result
  reference::run(args, buffers);
  return exact;
}
Values exact_product(Host& host, const hstu_tensor& x, const hstu_tensor& w) {
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  args.x = x;
  args.w = w;
  std::swap(args.w.shape[0], args.w.shape[1]);
  std::swap(args.w.stride[0], args.w.stride[1]);
  args.out = host.matrix(HSTU_DTYPE_F32, kM, kN, 4);  // left alone
  return exact_product(args);
}

hstu_tensor on_device(Memory& memory, hstu_tensor t) {
  const auto bytes = static_cast<size_t>(extent_bytes(t));
  void* data = memory.allocate(bytes);
  memory.upload(data, t.data, bytes);
  t.data = data;
  return t;
}

/// The device's results; `out` gets them as they are.
struct DeviceProduct {
  Values values;
  std::string family;  ///< of the kernel
};
DeviceProduct device_product(BenchRun& bench, hstu_fp8_gemm_args args) {
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  const hstu_tensor host_out = args.out;
  for (hstu_tensor* t : {&args.x, &args.w, &args.x_descale, &args.w_descale, &args.out}) *t = on_device(*memory, *t);
  if (const hstu_status status = hstu_fp8_gemm(bench.host.get(), &args, nullptr); status != HSTU_OK)
    throw Error(status, hstu_last_error());
  memory->synchronise();
  memory->download(host_out.data, args.out.data, static_cast<size_t>(extent_bytes(host_out)));
  Values results(static_cast<size_t>(kM * kN));
  load(host_out, 0, kM * kN, results.data());
  return {results, std::string(bench.context().plan_for(prepare(args), nullptr, nullptr).choice.family->name)};
}

/// What rounding to f16 alone makes of exact results.
double rounding_of(Host& host, const Values& exact) {
  const hstu_tensor t = host.matrix(HSTU_DTYPE_F16, kM, kN, 2);
  store(t, 0, kM * kN, exact.data());
  Values rounded(exact.size());
  load(t, 0, kM * kN, rounded.data());
  return distance(rounded, exact);
}

std::string quantisation_id(const Scales& scales, int64_t k) {
  return fmt::format("fp8_gemm_quantisation_error_{}_k{}", scales.name, k);
}
std::string accumulation_id(const Scales& scales, bool fast, int64_t k) {
  return fmt::format("fp8_gemm_accumulation_error_{}{}_k{}", scales.name, fast ? "_fast" : "", k);
}
bool wants_any(const Report& report, const Scales& scales, int64_t k) {
  return report.wants(quantisation_id(scales, k)) || report.wants(accumulation_id(scales, false, k)) ||
         report.wants(accumulation_id(scales, true, k));
}

void measure(BenchRun& bench, const Scales& scales, int64_t k) {
  Host host;
  const hstu_tensor x = host.normal(kM, k, 1), w = host.normal(kN, k, 1 / std::sqrt(static_cast<double>(k)));
  const Quantised a = quantised(host, x, scales.a), b = quantised(host, w, scales.b);
  hstu_fp8_gemm_args args{};
  args.struct_size = sizeof args;
  args.x = a.q;
  args.w = b.q;
  args.x_descale = a.descale;
  args.w_descale = b.descale;
  args.x_scaling = scales.a;
  args.w_scaling = scales.b;
  args.out = host.matrix(HSTU_DTYPE_F16, kM, kN, 2);
  const Values exact = exact_product(args);
  bench.report.add({quantisation_id(scales, k), 100 * distance(exact, exact_product(host, x, w)), "%", false,
                    std::nullopt,
                    "the operands' own product in double precision"});  // of no kernel: the host quantises
  const double rounding = rounding_of(host, exact);
  for (const bool fast : {false, true}) {
    if (fast && scales.a != HSTU_FP8_ROW) continue;  // the same sums
    args.accumulation = fast ? HSTU_FP8_ACCUMULATE_FAST : HSTU_FP8_ACCUMULATE_128;
    const DeviceProduct product = device_product(bench, args);
    const double all = distance(product.values, exact);
    bench.report.add({accumulation_id(scales, fast, k),
                      100 * std::sqrt(std::max(0.0, all * all - rounding * rounding)),
                      "%",
                      false,
                      std::nullopt,
                      fmt::format("the quantised operands' product in double precision; {:.3f} % of rounding to f16 "
                                  "taken off, by squares",
                                  100 * rounding),
                      {product.family}});
  }
}

}  // namespace

void bench_fp8_errors(BenchRun& bench) {
  for (const Scales& scales : {kRows, kBlocks})
    for (const int64_t k : {512, 4096})
      if (wants_any(bench.report, scales, k)) measure(bench, scales, k);
}

}  // namespace hstujit::tool
