// Query heads that share a head of k and v (Config::kHeadsPerKv); a Config that says nothing has one for each.
#pragma once
#include "prim/types.cuh"

namespace hstu::variant {

template <class Config>
HSTU_PRIM constexpr auto heads_per_kv(int) -> decltype(Config::kHeadsPerKv + 0) {
  return Config::kHeadsPerKv;
}
template <class Config>
HSTU_PRIM constexpr int heads_per_kv(long) {
  return 1;
}

// The head of k and v that query head `head` reads.
template <class Config>
HSTU_PRIM constexpr int kv_head_of(int head) {
  return head / heads_per_kv<Config>(0);
}

}  // namespace hstu::variant
