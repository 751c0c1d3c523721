// Records that the library ships: tuner_db/<device>.json, reviewed as text and embedded by the build. The lowest layer
// of all, asked only where no store and no pack has anything to say, and read no further than asked for, so that a
// start does not pay for them.
#pragma once

#include "tuner/winners.hpp"

#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace hstujit {

class ShippedRecords {
 public:
  /// Exported texts (records_text.hpp); they must outlive this.
  explicit ShippedRecords(std::vector<std::string_view> texts) : texts_(std::move(texts)) {}

  /// The record of exactly this problem. Reads one line.
  std::optional<Record> find(const Problem& problem, std::string_view device_class) const;

  /// All of them; read when first asked for.
  const Winners& all() const;

 private:
  const std::vector<std::string_view> texts_;
  mutable std::once_flag reading_;
  mutable Winners all_;
};

}  // namespace hstujit
