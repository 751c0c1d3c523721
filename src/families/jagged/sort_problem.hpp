// A problem of sort_kv_pairs or of sort_by_length, for the families of either.
#pragma once

#include "families/family.hpp"

namespace hstujit::sort_problem {

/// Pairs or sequences, bucketed.
int32_t count(const Problem& problem);
/// Of what is compared: keys, or offsets and the lengths between them.
int key_bytes(const Problem& problem);
/// Key, and what goes with it.
void write_types(ConfigText& text, const Problem& problem);
/// Returns how many elements there are.
int64_t set_params(const void* args, const Problem& problem, Launch& launch);

}  // namespace hstujit::sort_problem
