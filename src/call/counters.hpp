// A context's counters as text for Prometheus, from one table that also says what each means.
#pragma once

#include <hstujit/hstujit.h>

#include <string>
#include <string_view>

namespace hstujit {

/// The exposition format, version 0.0.4; `device` becomes a label of every sample.
std::string prometheus_text(const hstu_counters& counters, std::string_view device);

}  // namespace hstujit
