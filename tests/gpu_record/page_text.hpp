// What the pages of records are made of.
#pragma once

#include "gpu_record/record.hpp"

#include <string>

namespace hstujit::gpu_record {

struct Section {
  const char *room, *title;
};
constexpr Section kSections[] = {{"attention", "Attention"},   {"dense", "Products"}, {"norm", "Norms and rows"},
                                 {"position", "Positions"},    {"jagged", "Jagged"},  {"fp8", "FP8"},
                                 {"stack", "Layer and stack"}, {"engine", "Engine"}};

/// Four digits, or what stands before the point.
std::string rounded(double value);

bool short_of_target(const Figure& figure);

}  // namespace hstujit::gpu_record
