// What of a record is of other sources than those at hand, and what has never been taken.
#pragma once

#include "gpu_record/promised.hpp"
#include "gpu_record/record.hpp"
#include "gpu_record/sources.hpp"

#include <set>
#include <string>
#include <vector>

namespace hstujit::gpu_record {

/// Rooms of figures: those of the operators, then "stack" and "engine".
std::string room_of_figure(const Figure& figure);
/// Something that has to be taken again, with the reason.
template <class Entry>
struct Again {
  Entry entry;      ///< of what was never taken only its names
  std::string why;  ///< "norm_mul_sm80 changed", "never taken", "3 failed"
};

struct Stale {
  std::vector<Again<Figure>> figures;
  std::vector<Again<TestCounts>> tests;
  std::vector<Again<SanitizedCounts>> sanitized;  ///< told, and begun anew by the next run; nothing fails for them

  bool empty() const { return figures.empty() && tests.empty(); }
};

/// Why something that was taken with these digests has to be taken again; "" when it has not. needed: what it depends
/// on now.
std::string why_again(const Digests& taken, const std::set<std::string>& needed, Sources& sources);

/// promised: figures that have to be there.
Stale stale_in(const Record& record, Sources& sources, const std::vector<PromisedFigure>& promised);

/// What is stale in one of the records, or was never taken, and is of these sources in none: a kernel is proven on
/// whatever GPU it was taken on again. Sanitized counts are left out.
Stale unproven(const std::vector<Record>& records, Sources& sources, const std::vector<PromisedFigure>& promised);

/// A line a reason, with all that it touches, and the command that takes just that; "" when nothing is stale.
std::string text(const Stale& stale, const std::string& record_file);

}  // namespace hstujit::gpu_record
