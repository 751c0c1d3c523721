// Device side of section_order_test.cpp: where each tile of an order stands.
#pragma once
#include "attention/section_order.cuh"

namespace hstu::check {

struct OrderParams {
  u32* places;  // [pairs * levels, 2]: pair and level of each
  u32 pairs, section_pairs, levels;
  u32 first_early;
};

__global__ void find_places(const OrderParams p) {
  const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= p.pairs * p.levels) return;
  const tile::SectionOrder at(index, p.pairs, p.section_pairs, p.levels, p.first_early != 0);
  p.places[2 * index] = at.pair;
  p.places[2 * index + 1] = at.level;
}

}  // namespace hstu::check
