#include "gpu_record/bare_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hstujit::gpu_record {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
/// Literals are joined to the words beside them: R"(x)", L'x', "x"_s.
bool joins_words(char c) { return is_word(c) || c == '"' || c == '\''; }
bool is_operator(char c) { return std::string_view("+-*/%<>=&|^!:.#").find(c) != std::string_view::npos; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string read() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  std::string_view last_word() const {
    const auto end = std::find_if_not(out_.rbegin(), out_.rend(), is_word);
    return std::string_view(out_).substr(static_cast<size_t>(out_.rend() - end));
  }

  void step() {
    if (next_is("\\\n")) {
      at_ += 2;
      space_ = true;
    } else if (next_is("//")) {
      skip_line_comment();
    } else if (next_is("/*")) {
      at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      space_ = true;
    } else if (text_[at_] == '\n') {
      end_line();
    } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
      space_ = true;
    } else if (text_[at_] == '"') {
      take(space_ || !last_word().ends_with('R') ? quoted_end('"') : raw_string_end());
    } else if (text_[at_] == '\'' && (space_ || !parts_digits())) {
      take(quoted_end('\''));
    } else {
      take(at_ + 1);
    }
  }

  /// Up to the end of the line, which a backslash before it goes beyond.
  void skip_line_comment() {
    size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    at_ = std::min(end, text_.size());
    space_ = true;
  }

  void end_line() {
    ++at_;
    if (in_directive_) out_ += '\n';
    space_ = !in_directive_;
    in_directive_ = false;
    line_is_empty_ = true;
  }

  /// 1'000: the word in front is a number.
  bool parts_digits() const {
    const std::string_view word = last_word();
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front()));
  }

  /// Behind the closing quote; what is not closed ends with its line.
  size_t quoted_end(char quote) const {
    for (size_t end = at_ + 1; end < text_.size(); ++end) {
      if (text_[end] == quote) return end + 1;
      if (text_[end] == '\n') return end;
      if (text_[end] == '\\') ++end;
    }
    return text_.size();
  }
  size_t raw_string_end() const {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return text_.size();
    const std::string close = fmt::format("){}\"", text_.substr(at_ + 1, open - at_ - 1));
    const size_t end = text_.find(close, open);
    return end == std::string_view::npos ? text_.size() : end + close.size();
  }

  /// Copies up to `end`, behind the space that was there if it matters.
  void take(size_t end) {
    const char first = text_[at_];
    if (line_is_empty_ && first == '#') begin_directive();
    if (space_ && !out_.empty() && space_matters(out_.back(), first)) out_ += ' ';
    out_ += text_.substr(at_, end - at_);
    at_ = end;
    space_ = line_is_empty_ = false;
  }
  void begin_directive() {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    in_directive_ = true;
  }
  bool space_matters(char before, char behind) const {
    if (before == '\n') return false;
    if (in_directive_) return before != '#';  // f (x) and f(x) are different macros
    return (joins_words(before) && joins_words(behind)) || (is_operator(before) && is_operator(behind));
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string out_;
  bool space_ = false;         ///< in front of what comes
  bool line_is_empty_ = true;  ///< so far
  bool in_directive_ = false;
};

}  // namespace

std::string bare_text(std::string_view text) { return Reader(text).read(); }

}  // namespace hstujit::gpu_record
