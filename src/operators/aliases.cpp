#include "operators/aliases.hpp"

#include <utility>

namespace hstujit {
namespace {

constexpr std::pair<std::string_view, Op> kOps[] = {{"hstu_attention", Op::attention},
                                                    {"hstu_attention_fp8", Op::attention_fp8},
                                                    {"delta_hstu_attention", Op::delta_attention},
                                                    {"paged_hstu_attention", Op::paged_attention}};

constexpr OldMember kMembers[] = {{Op::layer_norm, "y", "out"},
                                  {Op::rms_norm, "y", "out"},
                                  {Op::swish_layer_norm, "y", "out"},
                                  {Op::group_norm, "y", "out"},
                                  {Op::rms_norm_rope, "y", "out"},
                                  {Op::softmax, "y", "out"},
                                  {Op::dropout, "y", "out"},
                                  {Op::addmm, "y", "bias", 1},
                                  {Op::addmm, "y", "residual", 2},
                                  {Op::addmm, "z", "out"},
                                  {Op::addmm, "z1", "out1"},
                                  {Op::addmm, "z2", "out2"},
                                  {Op::addmm, "z3", "out3"},
                                  {Op::addmm, "z_descale", "out_descale"},
                                  {Op::norm_addmm, "y", "bias"},
                                  {Op::norm_addmm, "z", "out"},
                                  {Op::norm_addmm, "z1", "out1"},
                                  {Op::norm_addmm, "z2", "out2"},
                                  {Op::norm_addmm, "z3", "out3"},
                                  {Op::gated_addmm, "x", "residual"},
                                  {Op::gated_fp8_gemm, "x", "residual"},
                                  {Op::fp8_gemm, "a", "x"},
                                  {Op::fp8_gemm, "b", "w"},
                                  {Op::fp8_gemm, "a_descale", "x_descale"},
                                  {Op::fp8_gemm, "b_descale", "w_descale"},
                                  {Op::fp8_gemm, "a_scaling", "x_scaling"},
                                  {Op::fp8_gemm, "b_scaling", "w_scaling"},
                                  {Op::fp8_gemm, "bias", "residual", 2}};

}  // namespace

std::optional<Op> op_named_before(std::string_view name) {
  for (const auto& [before, op] : kOps)
    if (before == name) return op;
  return std::nullopt;
}

std::span<const OldMember> old_members() { return kMembers; }

}  // namespace hstujit
