// Records that the library ships: tuner_db/<device>.json, reviewed as text and embedded by the build. The lowest layer
// of all, asked only where no store and no pack has anything to say. A start does not pay for those that it does not
// ask for: lines are found by their beginning and end, and read one by one.
#pragma once

#include "records/winners.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hstujit {

class ShippedRecords {
 public:
  /// Exported texts (records_text.hpp); they must outlive this.
  explicit ShippedRecords(std::vector<std::string_view> texts) : texts_(std::move(texts)) {}

  /// The record of exactly this problem. Parses one line.
  std::optional<Record> find(const Problem& problem, std::string_view device_class) const;

  /// All of them; read when first asked for.
  const Winners& all() const;

 private:
  struct Name {  ///< of a line
    std::string_view device_class, problem;
    bool operator==(const Name&) const = default;
  };
  struct HashName {
    size_t operator()(const Name& name) const { return std::hash<std::string_view>()(name.problem); }
  };
  using Lines = std::unordered_map<Name, std::string_view, HashName>;

  static std::optional<Name> name_of_line(std::string_view line);
  Lines indexed_lines() const;
  Winners read_all() const;

  const std::vector<std::string_view> texts_;
  // Not std::call_once: an exception that passes through the C library ends the process where there is no memory.
  mutable std::mutex reading_;
  mutable std::optional<Lines> lines_;
  mutable std::optional<Winners> all_;
};

}  // namespace hstujit
