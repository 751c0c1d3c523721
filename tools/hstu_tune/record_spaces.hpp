// Writes what an exhaustive tuning measured as recorded spaces, for the simulator.
#pragma once

#include "hstu_tune/command.hpp"
#include "hstu_tune/tuning.hpp"

#include <string>

namespace hstujit::tool {

/// One file a problem and family, <family>-<digest of the problem>.space.zst, in the folder. How many of the spaces
/// were measured completely, and written, and how many were not.
struct SpacesWritten {
  int complete = 0, incomplete = 0;
};
SpacesWritten record_spaces(Context& context, const TuningOutcome& outcome, Width width, const std::string& folder);

}  // namespace hstujit::tool
