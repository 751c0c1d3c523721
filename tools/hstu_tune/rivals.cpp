#include "hstu_tune/rivals.hpp"

#include "hstu_tune/child.hpp"
#include "hstu_tune/messages.hpp"
#include "support/json.hpp"

#include <fmt/format.h>

namespace hstujit::tool {

Rivals::Rivals() : found_(std::make_shared<Json>(Json::object())) {}

Rivals Rivals::measured_by(const std::string& script) {
  Rivals rivals;
  if (script.empty()) return rivals;
  const ChildOutput output = run_command({"python3", script});
  Json found = read_json(output.out, nullptr, false);
  if (output.code != 0 || !found.is_object())
    complain("{} measured no rivals (it ended with {})", script, output.code);
  else
    rivals.found_ = std::make_shared<Json>(std::move(found));
  return rivals;
}

std::string Rivals::text(const std::string& member, const std::string& unit) const {
  std::string out;
  for (const auto& [name, rival] : found_->items())
    if (rival.is_object() && rival.contains(member) && rival[member].is_number())
      out += fmt::format(", {} {}: {:.4g} {}", name, rival.value("version", ""), rival[member].get<double>(), unit);
  return out;
}

}  // namespace hstujit::tool
