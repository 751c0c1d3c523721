// What the doctor says: one finding a line; what is wrong is followed by what mends it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace hstujit::tool {

class Findings {
 public:
  void good(const char* what, const std::string& finding) { fmt::print("ok       {:<12} {}\n", what, finding); }
  void note(const char* what, const std::string& finding) { fmt::print("-        {:<12} {}\n", what, finding); }
  /// Works, but not well.
  void doubtful(const char* what, const std::string& finding, const std::string& mend) {
    print("doubtful", what, finding, mend);
    ++doubtful_;
  }
  void missing(const char* what, const std::string& finding, const std::string& mend) {
    print("missing ", what, finding, mend);
    ++missing_;
  }
  /// The last line.
  std::string summary() const {
    if (missing_ + doubtful_ == 0) return "nothing is missing";
    return doubtful_ == 0 ? fmt::format("{} missing, see above", missing_)
                          : fmt::format("{} missing and {} doubtful, see above", missing_, doubtful_);
  }

 private:
  static void print(const char* verdict, const char* what, std::string finding, const std::string& mend) {
    constexpr size_t kIndent = 22;  // of what was found
    for (size_t at = finding.find('\n'); at != std::string::npos; at = finding.find('\n', at + 1))
      finding.insert(at + 1, kIndent, ' ');
    fmt::print("{} {:<12} {}\n         {:<12} to mend: {}\n", verdict, what, finding, "", mend);
  }

  int missing_ = 0, doubtful_ = 0;
};

}  // namespace hstujit::tool
