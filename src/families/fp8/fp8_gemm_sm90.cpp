// fp8_gemm_sm90: products of FP8 matrices with scales on wgmma and TMA, kernels/fp8/fp8_gemm_sm90.cuh.
#include "fp8/fp8_gemm_sm90.h"

#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "families/fp8/fp8_product.hpp"

namespace hstujit {
namespace {

using fp8_product::element_of, fp8_product::scales_along_k, tma_product::Facts;

/// Whether a bias row lies in shared memory: that of columns that stay is in registers, if it is of 16 bits and no sums
/// of slices want them.
bool shares_bias(const Problem& p, const Config& c) {
  const bool held = c[tma_product::kResident] && p[fp8_gemm::kFast] != 0 &&
                    size_of(static_cast<hstu_dtype>(p[fp8_gemm::kBiasDtype])) == 2;
  return (p[fp8_gemm::kBias] & hstu::kRowBias) != 0 && !held;
}

bool fast(const Problem& p) { return p[fp8_gemm::kFast] != 0; }
/// Whether a warpgroup promotes one slice's sums while it multiplies the next: two sets of them.
bool overlaps_promotion(const Problem& p, const Config& c) { return c[tma_product::kPingPong] && !fast(p); }
/// Passes of a warpgroup over a tile; 128 columns have registers then.
int passes(const Problem& p, const Config& c) {
  return overlaps_promotion(p, c) && c[tma_product::kBlockN] == 256 ? 2 : 1;
}

Facts facts(const Problem& p, const Config& c) {
  const bool scaled = p[fp8_gemm::kScalingB] == HSTU_FP8_ROW;
  Facts f;
  f.m = p[fp8_gemm::kM];
  f.n = p[fp8_gemm::kN];
  f.k = p[fp8_gemm::kK];
  f.element_bytes = 1;
  f.w_along_k = true;
  f.most_stages = c[tma_product::kPingPong] ? 12 : 8;  // of both rings together
  f.residual = (p[fp8_gemm::kBias] & hstu::kResidual) != 0;
  f.passes = passes(p, c);
  const int copies = c[tma_product::kResident] ? 1 : 2;
  f.epilogue_bytes = ((shares_bias(p, c) ? 1 : 0) + (scaled ? 1 : 0)) * copies * 4 * (c[tma_product::kBlockN] + 16);
  if (f.residual) f.epilogue_bytes += 8 * 8;  // a barrier a warp
  return f;
}

constexpr int kPanel = 64;
/// Whether an activation takes some panels of the columns that stay with blocks, which then have a share of those each.
bool spread(const Problem& p, const Config& c) {
  return c[tma_product::kResident] && p[fp8_gemm::kActivation] != HSTU_ACTIVATION_NONE &&
         p[fp8_gemm::kActColumns] < p[fp8_gemm::kN] && p[fp8_gemm::kActColumns] % kPanel == 0 &&
         p[fp8_gemm::kScalingB] != HSTU_FP8_BLOCK;
}

/// Columns of the sums that a warpgroup promotes at a time, of 64 rows.
int piece_columns(const Config& c) { return c[tma_product::kBlockN] / ((c[tma_product::kBlockN] + 127) / 128); }
int held_registers(const Problem& p, const Config& c) {
  const int sums = fast(p) ? 0 : (overlaps_promotion(p, c) ? 2 : 1) * piece_columns(c) / 2;
  return tma_product::accumulators(c) / passes(p, c) + sums;
}

bool sums_fit_beside_accumulators(const Problem& p, const Config& c, const DeviceFacts&) {
  return held_registers(p, c) <= 192;
}
bool rings_share_no_w(const Problem&, const Config& c, const DeviceFacts&) {
  return c[tma_product::kPingPong] == c[tma_product::kResident];
}
bool rings_are_deep(const Problem& p, const Config& c, const DeviceFacts&) {
  return !c[tma_product::kPingPong] || tma_product::stages(facts(p, c), c) >= 6;
}
/// Whether results in FP8 overwrite a residual, which is read 64 columns ahead.
bool reads_ahead(const Problem& p) {
  return fp8::stores(p[fp8_gemm::kDtype]) && (p[fp8_gemm::kBias] & hstu::kResidual) != 0;
}
bool overlapped_promotion_fits(const Problem& p, const Config& c, const DeviceFacts&) {
  const bool scales = scales_along_k(p), plain_epilogue = p[fp8_gemm::kBias] == hstu::kNoBias &&
                                                          p[fp8_gemm::kActivation] == HSTU_ACTIVATION_NONE &&
                                                          !fp8::stores(p[fp8_gemm::kDtype]);
  const int columns = c[tma_product::kBlockN], slices = tma_product::slices(facts(p, c));
  return !overlaps_promotion(p, c) ||
         (c[tma_product::kBlockM] == 64 && columns != 192 &&
          slices <= ((scales && !plain_epilogue) || reads_ahead(p) ? 7 : 8) && (columns <= 128 || !scales));
}
bool rows_stay_for_all_passes(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts(p, c);
  return f.passes == 1 || tma_product::stages(f, c) / 2 >= tma_product::slices(f);
}
bool pieces_have_one_block(const Problem& p, const Config& c, const DeviceFacts&) {
  return p[fp8_gemm::kScalingB] != HSTU_FP8_BLOCK || c[tma_product::kBlockN] != 192;
}
bool residual_fits_beside_accumulators(const Problem& p, const Config& c, const DeviceFacts&) {
  return !reads_ahead(p) || tma_product::accumulators(c) <= 128;
}
/// Measured with NVRTC 13.0: some of these spill a word or four, whatever the epilogue does at a time.
bool activation_fits_beside_accumulators(const Problem& p, const Config& c, const DeviceFacts&) {
  if (p[fp8_gemm::kActivation] == HSTU_ACTIVATION_NONE) return true;
  const bool row = (p[fp8_gemm::kBias] & hstu::kRowBias) != 0, scaled = p[fp8_gemm::kScalingB] == HSTU_FP8_ROW;
  const int accumulators = tma_product::accumulators(c) / passes(p, c);
  if (element_of(p) == HSTU_DTYPE_F16) return accumulators < 128 || (accumulators == 128 && scaled);
  return accumulators <= 128 || !(row && scaled);
}
constexpr auto kRules = tma_product::rules<facts>(std::array<Rule, 8>{
    {{"warpgroups with tiles of their own have rings of their own, which must not both fetch w", rings_share_no_w},
     {"and each ring has three stages", rings_are_deep},
     {"promotion beside the next slice's products is unrolled over all of k: registers for 64 x 128 at a time and 8 "
      "slices, for one pass where each has scales, and beside a bias, an activation or FP8 for 7, as beside a residual "
      "that FP8 overwrites",
      overlapped_promotion_fits},
     {"each ring has all of k where a tile takes two passes, which use the same rows", rows_stay_for_all_passes},
     {"accumulators and the sums of a slice take 192 registers at most", sums_fit_beside_accumulators},
     {"columns that are promoted together have the scale of one block", pieces_have_one_block},
     {"a residual that results in FP8 overwrite is read 64 columns ahead, which spills beside 192 accumulators",
      residual_fits_beside_accumulators, true},
     {"SiLU beside 192 accumulators, a bias row and per-column scales spills; f16's, of two functions, beside 128 "
      "already",
      activation_fits_beside_accumulators, true}}});

/// What TMA takes, in results of 16 bits or fewer, whose rounding covers what promotion leaves of FP8 sums' error;
/// per-group scales on a alone; residuals of 16 bits. sm_80's family takes the rest.
bool covers(const Problem& p, const DeviceFacts& device) {
  const bool in_fp8 = fp8::stores(p[fp8_gemm::kDtype]);
  return device.target == "sm_90a" && element_of(p) != HSTU_DTYPE_F32 && p[fp8_gemm::kVectorA] == 16 &&
         p[fp8_gemm::kVectorB] == 16 && p[fp8_gemm::kVectorOut] == (in_fp8 ? 16 : 8) && p[fp8_gemm::kSplit] % 64 == 0 &&
         p[fp8_gemm::kScalingB] != HSTU_FP8_GROUP && p[fp8_gemm::kN] > 0 && p[fp8_gemm::kK] > 0 &&
         p[fp8_gemm::kM] < tma_product::kMostRows;
}

/// Tiles of two fragments have twice as many scales along k as those of two pieces: 8192 x 8192 by 8192 takes 977 us,
/// 128 x 256 823. Two passes leave the ring no room for rows ahead, which costs more than it saves where few blocks
/// read the same rows: 65536 x 512 by 512 takes 41 us, one pass of 128 columns 37.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const Config c = tma_product::default_config(kFp8GemmSm90, p, facts(p, {}), device);
  if (c[tma_product::kBlockM] == 256 && fp8::changes_along_k(p[fp8_gemm::kScalingA])) {
    Config wide = c;
    wide[tma_product::kBlockM] = 128;
    wide[tma_product::kBlockN] = 2 * c[tma_product::kBlockN];
    if (legal(kFp8GemmSm90, p, wide, device)) return wide;
  }
  constexpr int64_t kFewestColumns = 1024;
  if (passes(p, c) == 1 || p[fp8_gemm::kN] >= kFewestColumns) return c;
  Config one_pass = c;
  one_pass[tma_product::kBlockN] /= 2;
  return legal(kFp8GemmSm90, p, one_pass, device) ? one_pass : c;
}

Resources resources(const Problem& p, const Config& c) {
  return tma_product::resources(facts(p, c), c, held_registers(p, c));
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const hstu_dtype dtype = element_of(p), bias = static_cast<hstu_dtype>(p[fp8_gemm::kBiasDtype]);
  text.type("A", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtypeA])));
  text.type("B", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtypeB])));
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.constant("kBias", p[fp8_gemm::kBias]);
  text.constant("kActivation", p[fp8_gemm::kActivation]);
  text.flag("kActivatesPart", tma_product::activates_part(p[fp8_gemm::kActColumns], p[fp8_gemm::kN],
                                                          spread(p, c) ? kPanel : c[tma_product::kBlockN]));
  text.flag("kSplitColumns", p[fp8_gemm::kSplit] != 0);
  if (fp8::stores(p[fp8_gemm::kDtype])) text.type("Fp8", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtype])));
  text.constant("kScalingA", p[fp8_gemm::kScalingA]);
  text.constant("kScalingB", p[fp8_gemm::kScalingB]);
  text.flag("kFast", fast(p));
  text.flag("kSpread", spread(p, c));
  text.flag("kXAlongK", true);
  text.flag("kWAlongK", true);
  tma_product::write_knobs(text, facts(p, c), c);
}

template <int kOutputs>
void fill(const hstu_fp8_gemm_args& a, const Problem& p, const Config& c, const Facts& f, Launch& launch) {
  auto& k = launch.emplace<hstu::Fp8GemmTmaParams<kOutputs>>();
  tma_product::encode_operand(a.x, 1, true, c[tma_product::kBlockM], 1, k.a);
  tma_product::encode_operand(a.w, 1, true, spread(p, c) ? kPanel : c[tma_product::kBlockN], c[tma_product::kCluster],
                              k.b);
  if (f.residual) tma_product::encode_rows(a.residual, k.residual);
  tma_product::encode_result({&a.out, &a.out1, &a.out2, &a.out3}, k.out, k.out_first);
  k.a_descale = static_cast<const float*>(a.x_descale.data);
  k.b_descale = static_cast<const float*>(a.w_descale.data);
  k.bias = a.bias.data;
  k.m = f.m;
  k.n = f.n;
  k.k = f.k;
  k.act_columns = a.activation_columns;
  k.out_descale = static_cast<const float*>(a.out_descale.data);
  k.a_descale_row_stride = fp8::row_stride(a.x_descale, a.x_scaling);
  k.a_descale_column_stride = fp8::column_stride(a.x_descale, a.x_scaling);
  k.b_descale_row_stride = fp8::row_stride(a.w_descale, a.w_scaling);
  k.b_descale_column_stride = fp8::column_stride(a.w_descale, a.w_scaling);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_fp8_gemm_args*>(args);
  Facts f = facts(p, c);
  f.m = a.out.shape[0];
  tma_product::shape_launch(f, c, device, launch);
  if (launch.grid[0] == 0) return;
  if (p[fp8_gemm::kSplit] == 0)
    fill<1>(a, p, c, f, launch);
  else
    fill<4>(a, p, c, f, launch);
}

}  // namespace

const Family kFp8GemmSm90 = {
    .name = "fp8_gemm_sm90",
    .room = "fp8",
    .op = Op::fp8_gemm,
    .min_compute_capability = 90,
    .knobs = tma_product::kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "fp8_gemm_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
