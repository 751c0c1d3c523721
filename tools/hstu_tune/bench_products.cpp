// Matrix products as a layer meets them, beside the vendor's library in the same run, by turns: few rows inside a CUDA
// graph, nothing but the product, bias and SiLU in one call, FP8, and the norm in front of it.
#include "hstu_tune/bench.hpp"
#include "hstu_tune/cublaslt.hpp"
#include "hstu_tune/graph.hpp"
#include "hstu_tune/product_operands.hpp"
#include "hstu_tune/table.hpp"
#include "support/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace hstujit::tool {
namespace {

struct Shape {
  int64_t m, k, n;
  std::string text() const { return fmt::format("{}x{}x{}", m, k, n); }
};

std::vector<Shape> shapes(std::initializer_list<int64_t> rows) {
  std::vector<Shape> all;
  for (const auto& [k, n] : {std::pair<int64_t, int64_t>{512, 2048}, {1024, 4096}, {512, 512}, {256, 1024}})
    for (const int64_t m : rows) all.push_back({m, k, n});
  return all;
}
std::vector<Shape> large_shapes() {
  std::vector<Shape> all = shapes({1024, 8192, 65536, 262144});
  all.push_back({8192, 8192, 8192});
  return all;
}

/// Ratios of one kind, of which the geometric mean counts too.
class Ratios {
 public:
  Ratios(BenchRun& bench, std::string name, std::string yardstick)
      : report_(bench.report), name_(std::move(name)), yardstick_(std::move(yardstick)) {}

  /// Whether the figure is asked for, or the mean that it counts in.
  bool wants(const std::string& id) const { return report_.wants(id) || (!name_.empty() && report_.wants(name_)); }
  void add(const std::string& id, const std::vector<std::string>& families, double seconds, double yardstick_seconds,
           std::optional<double> target = {}) {
    const double ratio = yardstick_seconds / seconds;
    logarithms_ += std::log(ratio);
    ++count_;
    families_.insert(families.begin(), families.end());
    report_.add({id, 100 * ratio, "%", true, target,
                 fmt::format("{}: {:.2f} us, ours {:.2f}", yardstick_, yardstick_seconds * 1e6, seconds * 1e6),
                 families});
  }
  /// Where it is asked for: some of its shapes alone have another.
  void add_mean(double target) {
    if (count_ > 0 && report_.wants(name_))
      report_.add({name_,
                   100 * std::exp(logarithms_ / count_),
                   "%",
                   true,
                   target,
                   fmt::format("{}, geometric mean of {} shapes", yardstick_, count_),
                   {families_.begin(), families_.end()}});
  }

 private:
  Report& report_;
  std::string name_, yardstick_;
  double logarithms_ = 0;
  int count_ = 0;
  std::set<std::string> families_;
};

double seconds(const Timing& timing) { return static_cast<double>(timing.median_ns) * 1e-9; }

/// A graph of products, each with a weight of its own, so that none lies in L2 when the graph begins.
void few_rows(BenchRun& bench, Stopwatch& watch) {
  constexpr int kProducts = 64;
  Ratios ratios(bench, "addmm_few_rows_of_cublaslt", "cuBLASLt, a graph of 64 too");
  for (const Shape& s : shapes({16, 64, 256, 1024})) {
    const std::string id = "addmm_graph_" + s.text() + "_of_cublaslt";
    if (!ratios.wants(id)) continue;
    ProductOperands operands(bench);
    const auto vendor = CublasLtProduct::create(HSTU_DTYPE_BF16, s.m, s.n, s.k, false);
    if (!vendor) return;
    std::vector<hstu_addmm_args> calls;
    for (int i = 0; i < kProducts; ++i) calls.push_back(operands.addmm(s.m, s.k, s.n, i > 0 ? &calls[0] : nullptr));
    void* other = operands.space(s.m * s.n * 2);
    void* workspace = operands.space(CublasLtProduct::kWorkspaceBytes);
    const std::string family = operands.ready(calls[0]);
    const auto ours = [&](CUstream stream) {
      for (const auto& call : calls) operands.run(call, stream);
    };
    const auto theirs = [&](CUstream stream) {
      for (const auto& call : calls) vendor->run(call.x.data, call.w.data, nullptr, other, workspace, stream);
    };
    theirs(watch.stream());  // loads its kernels
    const Graph a(bench.driver(), watch.stream(), ours), b(bench.driver(), watch.stream(), theirs);
    const auto t = watch.cold({[&](CUstream stream) { a.launch(stream); }, [&](CUstream stream) { b.launch(stream); }});
    ratios.add(id, {family}, seconds(t[0]) / kProducts, seconds(t[1]) / kProducts);
  }
  ratios.add_mean(110);
}

/// The products of the workload's addmm figures, which add a bias row, without one on either side.
void plain(BenchRun& bench, Stopwatch& watch) {
  Ratios ratios(bench, "addmm_plain_of_cublaslt", "cuBLASLt, no bias");
  for (const Shape& s : large_shapes()) {
    const std::string id = "addmm_plain_" + s.text() + "_of_cublaslt";
    if (!ratios.wants(id)) continue;
    ProductOperands operands(bench);
    const auto vendor = CublasLtProduct::create(HSTU_DTYPE_BF16, s.m, s.n, s.k, false);
    if (!vendor) return;
    const hstu_addmm_args call = operands.addmm(s.m, s.k, s.n);
    void* other = operands.space(s.m * s.n * 2);
    void* workspace = operands.space(CublasLtProduct::kWorkspaceBytes);
    const std::string family = operands.ready(call);
    const auto t = watch.cold(
        {[&](CUstream stream) { operands.run(call, stream); },
         [&](CUstream stream) { vendor->run(call.x.data, call.w.data, nullptr, other, workspace, stream); }});
    ratios.add(id, {family}, seconds(t[0]), seconds(t[1]), 93);
  }
  ratios.add_mean(100);
}

/// addmm, bias and SiLU in one call, against cuBLASLt's product with bias and a pass over the result, for which a
/// device copy of it stands: a pass reads and writes as much.
void fused_silu(BenchRun& bench, Stopwatch& watch) {
  Ratios ratios(bench, "addmm_silu_of_unfused", "cuBLASLt with bias, then a device copy of the result");
  for (const Shape& s :
       {Shape{65536, 512, 2048}, Shape{262144, 512, 2048}, Shape{65536, 1024, 4096}, Shape{262144, 1024, 4096}}) {
    const std::string id = "addmm_silu_" + s.text() + "_of_unfused";
    if (!ratios.wants(id)) continue;
    ProductOperands operands(bench);
    const auto vendor = CublasLtProduct::create(HSTU_DTYPE_BF16, s.m, s.n, s.k, true);
    if (!vendor) return;
    hstu_addmm_args call = operands.addmm(s.m, s.k, s.n);
    call.bias = operands.row(HSTU_DTYPE_BF16, s.n);
    call.activation = HSTU_ACTIVATION_SILU;
    const size_t bytes = static_cast<size_t>(s.m * s.n * 2);
    void *product = operands.space(s.m * s.n * 2), *result = operands.space(s.m * s.n * 2);
    void* workspace = operands.space(CublasLtProduct::kWorkspaceBytes);
    const std::string family = operands.ready(call);
    const auto t = watch.cold({[&](CUstream stream) { operands.run(call, stream); },
                               [&](CUstream stream) {
                                 vendor->run(call.x.data, call.w.data, call.bias.data, product, workspace, stream);
                                 operands.copy(result, product, bytes, stream);
                               }});
    ratios.add(id, {family}, seconds(t[0]), seconds(t[1]), s.k == 512 ? 150 : 125);
  }
}

/// cuBLASLt's FP8 with a scale a row, or where it has none, a scale a tensor; which one is said.
struct VendorFp8 {
  std::unique_ptr<CublasLtProduct> product;
  bool rows = true;
};
VendorFp8 vendor_fp8(const Shape& s) {
  for (const bool rows : {true, false}) {
    try {
      return {CublasLtProduct::create_fp8(s.m, s.n, s.k, rows), rows};
    } catch (const Error&) {}
  }
  return {};
}

constexpr const char* kTensorScales = "_of_cublaslt_tensor_scales";

/// Per-row scales against cuBLASLt's FP8 and against our own bf16, the latter also with fast accumulation; blocks
/// against rows.
void fp8(BenchRun& bench, Stopwatch& watch) {
  Ratios of_vendor(bench, "fp8_gemm_of_cublaslt", "cuBLASLt FP8"), of_bf16(bench, "", "addmm bf16"),
      of_rows(bench, "fp8_gemm_blocks_of_rows", "fp8_gemm, rows");
  for (const Shape& s : large_shapes()) {
    const std::string plain = "fp8_gemm_" + s.text(), fast_id = "fp8_gemm_fast_" + s.text() + "_of_bf16",
                      blocks_id = "fp8_gemm_blocks_" + s.text() + "_of_rows";
    const bool wanted = of_vendor.wants(plain + "_of_cublaslt") || of_vendor.wants(plain + kTensorScales) ||
                        of_bf16.wants(plain + "_of_bf16") || of_bf16.wants(fast_id) || of_rows.wants(blocks_id);
    if (!wanted) continue;
    ProductOperands operands(bench);
    hstu_addmm_args wide = operands.addmm(s.m, s.k, s.n);
    hstu_fp8_gemm_args rows = operands.fp8_gemm(s.m, s.k, s.n, HSTU_FP8_ROW, HSTU_FP8_ROW);
    const hstu_fp8_gemm_args blocks = operands.fp8_gemm(s.m, s.k, s.n, HSTU_FP8_GROUP, HSTU_FP8_BLOCK, &rows);
    hstu_fp8_gemm_args fast = rows;
    fast.accumulation = HSTU_FP8_ACCUMULATE_FAST;
    const VendorFp8 vendor = vendor_fp8(s);
    void* workspace = operands.space(CublasLtProduct::kWorkspaceBytes);
    const std::string in_bf16 = operands.ready(wide), by_rows = operands.ready(rows),
                      by_blocks = operands.ready(blocks), with_fast_sums = operands.ready(fast);
    std::vector<GpuWork> works = {
        [&](CUstream stream) { operands.run(rows, stream); }, [&](CUstream stream) { operands.run(wide, stream); },
        [&](CUstream stream) { operands.run(blocks, stream); }, [&](CUstream stream) { operands.run(fast, stream); }};
    if (vendor.product) {
      vendor.product->set_descales(rows.x_descale.data, rows.w_descale.data);
      works.push_back([&](CUstream stream) {
        vendor.product->run(rows.x.data, rows.w.data, nullptr, wide.out.data, workspace, stream);
      });
    }
    const auto t = watch.cold(works);
    if (vendor.product)
      of_vendor.add(plain + (vendor.rows ? "_of_cublaslt" : kTensorScales), {by_rows}, seconds(t[0]), seconds(t[4]));
    const bool promised = s.k >= 512 && s.n >= 2048 && s.m >= 65536;
    const auto target = promised ? std::optional<double>(160) : std::nullopt;
    of_bf16.add(plain + "_of_bf16", {by_rows, in_bf16}, seconds(t[0]), seconds(t[1]), target);
    of_bf16.add(fast_id, {with_fast_sums, in_bf16}, seconds(t[3]), seconds(t[1]), target);
    of_rows.add(blocks_id, {by_blocks, by_rows}, seconds(t[2]), seconds(t[0]));
  }
  of_vendor.add_mean(100);
  of_rows.add_mean(95);
}

/// A norm whose results go to an FP8 product, quantised as they are written, against norm, quantisation and product one
/// by one, our own kernels all.
void norm_chain(BenchRun& bench, Stopwatch& watch) {
  Ratios ratios(bench, "norm_fp8_gemm_of_unfused", "layer_norm, quantize_fp8, fp8_gemm");
  for (const Shape& s : shapes({65536, 262144})) {
    const std::string id = "norm_fp8_gemm_" + s.text() + "_of_unfused";
    if (!ratios.wants(id)) continue;
    ProductOperands operands(bench);
    const hstu_fp8_gemm_args product = operands.fp8_gemm(s.m, s.k, s.n, HSTU_FP8_ROW, HSTU_FP8_ROW);
    hstu_layer_norm_args norm{};
    norm.struct_size = sizeof norm;
    norm.x = operands.matrix(HSTU_DTYPE_BF16, s.m, s.k);
    norm.weight = operands.row(HSTU_DTYPE_BF16, s.k);
    norm.bias = operands.row(HSTU_DTYPE_BF16, s.k);
    hstu_layer_norm_args quantising = norm;
    norm.out = operands.matrix(HSTU_DTYPE_BF16, s.m, s.k);
    quantising.out = product.x;
    quantising.descale = product.x_descale;
    quantising.scaling = HSTU_FP8_ROW;
    hstu_quantize_fp8_args quantise{};
    quantise.struct_size = sizeof quantise;
    quantise.x = norm.out;
    quantise.q = product.x;
    quantise.descale = product.x_descale;
    quantise.scaling = HSTU_FP8_ROW;
    const std::vector<std::string> families = {operands.ready(product), operands.ready(norm),
                                               operands.ready(quantising), operands.ready(quantise)};
    const auto t = watch.cold({[&](CUstream stream) {
                                 operands.run(quantising, stream);
                                 operands.run(product, stream);
                               },
                               [&](CUstream stream) {
                                 operands.run(norm, stream);
                                 operands.run(quantise, stream);
                                 operands.run(product, stream);
                               }});
    ratios.add(id, families, seconds(t[0]), seconds(t[1]));
  }
  ratios.add_mean(140);
}

}  // namespace

void bench_products(BenchRun& bench) {
  Stopwatch watch(bench.driver(), bench.context().device_context());
  few_rows(bench, watch);
  plain(bench, watch);
  fused_silu(bench, watch);
  fp8(bench, watch);
  norm_chain(bench, watch);
}

}  // namespace hstujit::tool
