// Keeps a store within its limits: now and then one process removes what was not used for longest.
#pragma once

#include "jit/disk_store.hpp"

#include <string>

namespace hstujit {

/// Sweeps if the last sweep of this store, by any process, was at least limits.sweep_every ago and nobody sweeps now.
/// Removes entries, longest unused first, until nine tenths of the limits hold, and old debris: temporary files of
/// killed processes, quarantined and failed files. Only regular files that have a name of ours (store_names.hpp) in the
/// folder where we would put them; links are not followed, so a folder of ours that is one is not swept. Errors are
/// ignored; readers of a removed entry see a miss. Returns how many entries it removed.
int64_t sweep_if_due(const std::string& path, const StoreLimits& limits);

}  // namespace hstujit
