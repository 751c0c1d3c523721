// What the calls of a stack or of a training step take, each kind of call summed over the layers.
#pragma once

#include "hstu_tune/command.hpp"
#include "hstu_tune/report.hpp"
#include "hstu_tune/stopwatch.hpp"
#include "workload/stack.hpp"

#include <vector>

namespace hstujit::tool {

/// The stack's calls one by one, to be timed. Both outlive the result.
std::vector<GpuWork> steps_of(const Stack& stack, hstu_context* context);

/// A line per part with its share, rate and configuration, and the same into the report. seconds: of each call.
void print_parts(const Calls& calls, const std::vector<double>& seconds, Context& context, Report& report);

}  // namespace hstujit::tool
