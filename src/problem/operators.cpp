#include "problem/operators.hpp"

#include "problem/work.hpp"
#include "reference/reference.hpp"

namespace hstujit {
namespace {

constexpr TensorRole kInput = TensorRole::input, kInteger = TensorRole::integer, kOutput = TensorRole::output;

constexpr TensorSlot kLayerNormTensors[] = {{"x", offsetof(hstu_layer_norm_args, x), kInput},
                                            {"weight", offsetof(hstu_layer_norm_args, weight), kInput},
                                            {"bias", offsetof(hstu_layer_norm_args, bias), kInput},
                                            {"y", offsetof(hstu_layer_norm_args, y), kOutput}};
constexpr TensorSlot kAddmmTensors[] = {{"x", offsetof(hstu_addmm_args, x), kInput},
                                        {"w", offsetof(hstu_addmm_args, w), kInput},
                                        {"y", offsetof(hstu_addmm_args, y), kInput},
                                        {"z", offsetof(hstu_addmm_args, z), kOutput}};
constexpr TensorSlot kAttentionTensors[] = {{"q", offsetof(hstu_attention_args, q), kInput},
                                            {"k", offsetof(hstu_attention_args, k), kInput},
                                            {"v", offsetof(hstu_attention_args, v), kInput},
                                            {"out", offsetof(hstu_attention_args, out), kOutput},
                                            {"seq_offsets", offsetof(hstu_attention_args, seq_offsets), kInteger},
                                            {"num_targets", offsetof(hstu_attention_args, num_targets), kInteger},
                                            {"attn_scale", offsetof(hstu_attention_args, attn_scale), kInput}};
constexpr TensorSlot kNormMulTensors[] = {{"attn", offsetof(hstu_norm_mul_args, attn), kInput},
                                          {"u", offsetof(hstu_norm_mul_args, u), kInput},
                                          {"weight", offsetof(hstu_norm_mul_args, weight), kInput},
                                          {"bias", offsetof(hstu_norm_mul_args, bias), kInput},
                                          {"out", offsetof(hstu_norm_mul_args, out), kOutput}};

template <class Args>
Problem prepare_any(void* args) {
  return prepare(*static_cast<Args*>(args));
}
template <class Args>
void reference_any(const void* args) {
  reference::run(*static_cast<const Args*>(args));
}
template <class Args>
Work work_any(const void* args) {
  return work_of(*static_cast<const Args*>(args));
}

template <class Args, size_t kCount>
constexpr Operator entry(Op op, std::string_view name, const TensorSlot (&tensors)[kCount]) {
  return {op, name, sizeof(Args), tensors, prepare_any<Args>, reference_any<Args>, work_any<Args>};
}

constexpr Operator kOperators[kOpCount] = {
    entry<hstu_layer_norm_args>(Op::layer_norm, "layer_norm", kLayerNormTensors),
    entry<hstu_addmm_args>(Op::addmm, "addmm", kAddmmTensors),
    entry<hstu_attention_args>(Op::hstu_attention, "hstu_attention", kAttentionTensors),
    entry<hstu_norm_mul_args>(Op::norm_mul, "norm_mul", kNormMulTensors)};

}  // namespace

std::span<const Operator> operators() { return kOperators; }
const Operator& operator_of(Op op) { return kOperators[static_cast<size_t>(op)]; }

int64_t extent_bytes(const hstu_tensor& t) {
  int64_t last = 0;
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[d] == 0) return 0;
    last += (t.shape[d] - 1) * t.stride[d];
  }
  return present(t) ? (last + 1) * size_of(t.dtype) : 0;
}

}  // namespace hstujit
