// What the HTML report is made of: text that is safe to show, bounds of devices, and the picture of a problem's
// candidates.
#pragma once

#include "operators/operators.hpp"
#include "records/record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit::tool::html {

/// The text with &, <, >, " as entities.
std::string escaped(std::string_view text);

/// The page around a body: styles for screens of any width, dark ones and paper. Nothing is loaded from elsewhere.
std::string page(std::string_view title, std::string_view body);

/// The least time that the work can take on a device of this class, after its data sheet; nothing for unknown devices.
std::optional<double> bound_seconds(const Cost& cost, std::string_view device_class);

/// Every complete candidate of a job as a dot on a logarithmic axis of time, the winner and the default marked, the
/// bound as a line. Inline SVG; hovering names the configuration.
std::string candidates(const Job& job, const Record& winner, std::optional<double> bound);

}  // namespace hstujit::tool::html
