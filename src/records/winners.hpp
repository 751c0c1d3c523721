// An immutable table of records in memory: what the tuner answers from, without touching the database. Texts are kept
// once and rows are plain, so that 100,000 records load in milliseconds. A table can lie over another one that it
// shares, so that a change costs what changed.
#pragma once

#include "records/record.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hstujit {

/// A record and how far its problem is from the one asked about.
struct Neighbour {
  Record record;
  double distance;
};

/// Sum over the bucketed fields of weight * |log2 a - log2 b|; infinite when operator or an exact field differs. An
/// empty bucket (0) counts as one half.
double distance(const Problem& a, const Problem& b);

class Winners {
 public:
  Winners() = default;
  /// A table that begins with the contents of another one, sharing its rows.
  static Winners over(std::shared_ptr<const Winners> other);

  /// Adds a record; one of the same problem and device class that is there already is replaced. Filling comes first,
  /// then the table is shared and never changes.
  void add(const Record& record);
  void remove(const Problem& problem, std::string_view device_class);
  void reserve(size_t records);

  /// The record of exactly this problem.
  std::optional<Record> find(const Problem& problem, std::string_view device_class) const;

  /// At most `limit` records at finite distance, nearest first; ties in the order of the problems' fields.
  std::vector<Neighbour> neighbours(const Problem& problem, std::string_view device_class, size_t limit) const;

  /// Sorted by device class, then problem text.
  std::vector<Record> all() const;
  size_t size() const { return size_; }

  /// The table as bytes that of_bytes() takes, on a library with the same operators; nothing for any other bytes.
  std::string bytes() const;
  static std::optional<Winners> of_bytes(std::string_view bytes);

 private:
  using Name = uint32_t;  ///< index into names_
  struct HashText {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Row {
    Problem problem;
    Name device_class, family, config, space, evidence;
    std::array<char, kMaxUid> job;
    uint8_t standard, removed;  ///< 0 or 1; not bool, for rows may be bytes of anybody's
    TrialStatus status;
    Stage stage;
    Timing timing;
    int32_t sm_mhz, registers, smem_bytes, spill_bytes;
    int64_t at_ms, standard_ns;
  };

  Name name(std::string_view text);
  Name evidence(const Evidence& evidence);
  std::optional<Name> known_name(std::string_view text) const;
  Record record(const Row& row) const;
  const Row* row_of(const Problem& problem, std::string_view device_class) const;
  void keep(const Row& row, std::string_view device_class);
  Winners flat() const;
  size_t slot_of(const Problem& problem, Name device_class) const;
  void rehash(size_t capacity);
  bool consistent() const;

  /// Calls use(table, row) for every record: own rows, then those of the table beneath that none here hides.
  template <class Use>
  void for_each(Use use) const {
    for (const Row& row : rows_)
      if (!row.removed) use(*this, row);
    if (!under_) return;
    for (const Row& row : under_->rows_)
      if (!row.removed && (rows_.empty() || !row_of_own(row.problem, under_->names_[row.device_class])))
        use(*under_, row);
  }
  const Row* row_of_own(const Problem& problem, std::string_view device_class) const;

  std::shared_ptr<const Winners> under_;  ///< never itself over another one
  size_t size_ = 0;
  std::vector<Row> rows_;
  std::vector<uint32_t> slots_;  ///< open addressing by problem and device class: row + 1, or 0
  std::vector<std::string> names_;
  std::unordered_map<std::string, Name, HashText, std::equal_to<>> name_index_;
  std::vector<Evidence> evidences_;
  std::map<Evidence, Name> evidence_index_;
};

}  // namespace hstujit
