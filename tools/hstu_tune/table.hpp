// Tables of text for terminals and logs.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace hstujit::tool {

class Table {
 public:
  /// A header that starts with '>' makes its column flush right; the sign is not printed.
  explicit Table(std::vector<std::string> headers);

  /// One cell per column; missing ones are empty.
  void add(std::vector<std::string> cells);
  void print(FILE* out = stdout) const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> headers_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

/// "1.234 ms", "56.7 us": four digits, the unit that fits.
std::string duration_text(double seconds);

}  // namespace hstujit::tool
