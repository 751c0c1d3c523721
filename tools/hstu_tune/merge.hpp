// Takes over what other stores have: see transfer.cpp, where export, import and merge live.
#pragma once

#include "hstu_tune/command.hpp"

namespace hstujit::tool {

/// Adds the records of each source (a store's folder, its tuner.db, or an export) and the kernels of each folder, and
/// says how many there were. The tool's exit code.
int merge_stores(const std::vector<std::string>& sources, const StoreChoice& store);

}  // namespace hstujit::tool
