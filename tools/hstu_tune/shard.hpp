// Dividing a workload's problems among processes: by hand (--shard 2/8) or as the launcher that started them says.
#pragma once

#include <optional>
#include <string>

namespace hstujit::tool {

/// One of `count` processes, numbered from 0.
struct Shard {
  int index = 0, count = 1;
  int local = 0;         ///< among the processes of this host: which of its GPUs to take
  std::string launcher;  ///< who said so, for messages

  bool has(size_t problem) const { return problem % static_cast<size_t>(count) == static_cast<size_t>(index); }
  /// Where it keeps what it finds: a store within the store.
  std::string folder_in(const std::string& store) const;
};

/// "2/8"; nothing for other texts.
std::optional<Shard> parse_shard(const std::string& text);

/// What mpirun (Open MPI), srun or an MPI with PMI told this process; nothing when it was started alone.
std::optional<Shard> launched_shard();

}  // namespace hstujit::tool
