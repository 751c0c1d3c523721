// Tuning on all GPUs of a machine by one command: this program again for each of them.
#pragma once

#include <string>
#include <vector>

namespace hstujit::tool {

/// Runs `command` (of this program) `processes` times at once, number i with --shard i/processes on cuda:i; prints what
/// they say line by line with the device before it. Then `store` takes over the records and kernels of all of them.
/// Ctrl-C is passed on, and what they have by then is kept. 0 when every process ended well.
int tune_in_processes(const std::vector<std::string>& command, int processes, const std::string& store);

}  // namespace hstujit::tool
