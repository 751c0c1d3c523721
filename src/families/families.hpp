// All kernel families: those of each room, as its list.hpp has them.
#pragma once

#include "families/attention/list.hpp"
#include "families/dense/list.hpp"
#include "families/family.hpp"
#include "families/fp8/list.hpp"
#include "families/jagged/list.hpp"
#include "families/norm/list.hpp"
#include "families/position/list.hpp"

// clang-format off
#define HSTUJIT_FAMILIES(X) \
  HSTUJIT_ATTENTION_FAMILIES(X) \
  HSTUJIT_DENSE_FAMILIES(X) \
  HSTUJIT_FP8_FAMILIES(X) \
  HSTUJIT_JAGGED_FAMILIES(X) \
  HSTUJIT_NORM_FAMILIES(X) \
  HSTUJIT_POSITION_FAMILIES(X)
// clang-format on

namespace hstujit {

#define HSTUJIT_DECLARE(name) extern const Family k##name;
HSTUJIT_FAMILIES(HSTUJIT_DECLARE)
#undef HSTUJIT_DECLARE

}  // namespace hstujit
