#include "hstu_tune/table.hpp"

#include "support/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hstujit::tool {

Table::Table(std::vector<std::string> headers) : headers_(std::move(headers)) {
  for (std::string& header : headers_) {
    right_.push_back(header.starts_with('>'));
    if (right_.back()) header.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(headers_.size());
  for (std::string& cell : cells) cell = escaped(cell);  // stores and records of others name things
  rows_.push_back(std::move(cells));
}

void Table::print(FILE* out) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < headers_.size(); ++c) {
    size_t width = headers_[c].size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += right_[c] ? fmt::format("{:>{}}  ", row[c], widths[c]) : fmt::format("{:<{}}  ", row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print(out, "{}\n", line);
  };
  print_row(headers_);
  for (const auto& row : rows_) print_row(row);
}

std::string duration_text(double seconds) {
  struct Unit {
    double size;
    const char* name;
  };
  for (const Unit unit : {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}})
    if (seconds >= unit.size) return fmt::format("{:.4g} {}", seconds / unit.size, unit.name);
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

}  // namespace hstujit::tool
