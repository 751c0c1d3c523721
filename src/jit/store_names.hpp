// What the files of a store are called: made and recognised in one place, since whatever has another name is not ours.
#pragma once

#include "jit/kernel_key.hpp"

#include <string>
#include <string_view>

namespace hstujit::store_names {

/// The folder of an entry within kernels/: the first two digits of its unit's key.
std::string shard(const KernelKey& key);
/// <unit key>-<compiler>.kernel
std::string entry(const KernelKey& key, std::string_view compiler);
/// <unit key>.cu
std::string failure(const KernelKey& key);
/// What a damaged entry is called once it is set aside: its name and the time.
std::string set_aside(std::string_view entry, int64_t now_ns);

bool is_shard(std::string_view name);
bool is_entry(std::string_view name);
bool is_entry_of(std::string_view name, const KernelKey& key);
bool is_failure(std::string_view name);
bool is_set_aside(std::string_view name);
/// In compilers/, see compiler_memo.hpp.
bool is_memo(std::string_view name);
/// What publish_file() writes into the store's folder itself.
bool is_in_root(std::string_view name);
/// The name that a temporary file of publish_file() was to get; "" for all other names.
std::string_view published_name(std::string_view temporary);

}  // namespace hstujit::store_names
