#include "hstu_tune/shard.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace hstujit::tool {
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? number(value) : std::nullopt;
}

bool sound(int index, int count) { return count >= 1 && index >= 0 && index < count; }

/// Which variables a launcher sets. SLURM_NTASKS would not do: it is also set in batch scripts, which run once.
struct Launcher {
  const char *name, *index, *count, *local;
};
constexpr Launcher kLaunchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
    {"an MPI launcher", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
};

}  // namespace

std::string Shard::folder_in(const std::string& store) const {
  return fmt::format("{}/shard-{}-of-{}", store, index, count);
}

std::optional<Shard> parse_shard(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto index = number(std::string_view(text).substr(0, slash));
  const auto count = number(std::string_view(text).substr(slash + 1));
  if (!index || !count || !sound(*index, *count)) return std::nullopt;
  return Shard{*index, *count, 0, "--shard"};
}

std::optional<Shard> launched_shard() {
  for (const Launcher& launcher : kLaunchers) {
    const auto index = variable(launcher.index), count = variable(launcher.count);
    if (index && count && *count > 1 && sound(*index, *count))
      return Shard{*index, *count, variable(launcher.local).value_or(0), launcher.name};
  }
  return std::nullopt;
}

}  // namespace hstujit::tool
