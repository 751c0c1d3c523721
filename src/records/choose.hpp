// Which variant runs: the tuned record of exactly this problem, else (if wanted) that of its nearest relative, else the
// default of the preferred family. Decided once per problem; says how it was found.
#pragma once

#include "families/family.hpp"
#include "records/records.hpp"

#include <string>

namespace hstujit {

struct Choice {
  enum class From {
    record,    ///< tuned for exactly this problem on this device class
    nearest,   ///< tuned for a problem that differs in bucketed fields only
    standard,  ///< never measured
    resident,  ///< loaded for a problem that differs in bucketed fields only; stands in while another is prepared
  };

  const Family* family = nullptr;
  Config config;
  From from = From::standard;
  double distance = 0;  ///< of the nearest record, see Winners::neighbours
};

/// Records that name an unknown family or knob, or a configuration that is illegal here, are passed over. Throws
/// Error{UNSUPPORTED} when no family covers the problem.
Choice choose(const Records& records, const Problem& problem, const DeviceFacts& device, bool allow_nearest);

/// The default of the preferred family. Throws Error{UNSUPPORTED} when there is none.
Choice standard_choice(const Problem& problem, const DeviceFacts& device);

/// The configuration that a record's trial names, completed by the family's default (with one warning in the log);
/// nothing when the family is unknown or does not cover the problem, when a knob is unknown, or when the configuration
/// is not legal.
struct NamedConfig {
  const Family* family;
  Config config;
};
std::optional<NamedConfig> resolve(const Trial& trial, const Problem& problem, const DeviceFacts& device);

/// "attn_fwd_sm80 block_m=128 ... (nearest record, distance 2.0)"
std::string text(const Choice& choice);

}  // namespace hstujit
