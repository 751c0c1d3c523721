#include "records/winners.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hstujit {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// How much one doubling of a bucketed field says about which configuration is best. The longest sequence decides the
// trip count and the balance of blocks, the totals fill the device; the batch alone says little once the total is
// known.
double weight_of(std::string_view field) { return field == "batch" ? 0.5 : 1.0; }

double log2_of(int32_t bucket) { return bucket > 0 ? std::log2(static_cast<double>(bucket)) : -1.0; }

bool comparable(const Problem& a, const Problem& b) {
  if (a.op != b.op) return false;
  int index = 0;
  for (const FieldInfo& info : fields_of(a.op)) {
    if (info.kind != FieldKind::bucket && a[index] != b[index]) return false;
    ++index;
  }
  return true;
}

}  // namespace

double distance(const Problem& a, const Problem& b) {
  if (!comparable(a, b)) return kInfinite;
  double sum = 0;
  int index = 0;
  for (const FieldInfo& info : fields_of(a.op)) {
    if (info.kind == FieldKind::bucket) sum += weight_of(info.name) * std::abs(log2_of(a[index]) - log2_of(b[index]));
    ++index;
  }
  return sum;
}

Winners::Name Winners::name(std::string_view text) {
  if (const auto known = name_index_.find(text); known != name_index_.end()) return known->second;
  const Name index = static_cast<Name>(names_.size());
  names_.emplace_back(text);
  name_index_.emplace(text, index);
  return index;
}

std::optional<Winners::Name> Winners::known_name(std::string_view text) const {
  const auto known = name_index_.find(text);
  return known == name_index_.end() ? std::nullopt : std::optional(known->second);
}

Winners::Name Winners::evidence(const Evidence& evidence) {
  if (!evidences_.empty() && evidences_.back() == evidence) return static_cast<Name>(evidences_.size() - 1);
  const auto [entry, added] = evidence_index_.try_emplace(evidence, static_cast<Name>(evidences_.size()));
  if (added) evidences_.push_back(evidence);
  return entry->second;
}

/// The slot of the record, or the free slot where it belongs.
size_t Winners::slot_of(const Problem& problem, Name device_class) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = (problem.hash() + device_class) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Row& row = rows_[slots_[slot] - 1];
    if (row.problem == problem && row.device_class == device_class) break;
  }
  return slot;
}

void Winners::rehash(size_t capacity) {
  slots_.assign(capacity, 0);
  for (size_t i = 0; i < rows_.size(); ++i)
    slots_[slot_of(rows_[i].problem, rows_[i].device_class)] = static_cast<uint32_t>(i + 1);
}

void Winners::reserve(size_t records) {
  rows_.reserve(records);
  size_t capacity = 16;
  while (capacity < 2 * records) capacity *= 2;
  if (capacity > slots_.size()) rehash(capacity);
}

Winners Winners::over(std::shared_ptr<const Winners> other) {
  // Own rows are copied for every change and looked through before those beneath, so there must be few of them.
  constexpr size_t kFew = 1024;
  Winners out;
  if (other->under_ && other->rows_.size() > kFew) {
    out.under_ = std::make_shared<const Winners>(other->flat());
  } else if (other->under_) {
    return *other;
  } else {
    out.under_ = std::move(other);
  }
  out.size_ = out.under_->size_;
  return out;
}

void Winners::keep(const Row& row, std::string_view device_class) {
  const Row* const before = row_of(row.problem, device_class);
  size_ = size_ + (row.removed ? 0 : 1) - (before && !before->removed ? 1 : 0);
  if (2 * (rows_.size() + 1) > slots_.size()) rehash(std::max<size_t>(16, 2 * slots_.size()));
  uint32_t& slot = slots_[slot_of(row.problem, row.device_class)];
  if (slot != 0) {
    rows_[slot - 1] = row;
  } else {
    rows_.push_back(row);
    slot = static_cast<uint32_t>(rows_.size());
  }
}

void Winners::add(const Record& r) {
  const Trial& t = r.trial;
  Row row{r.problem,
          name(r.device_class),
          name(t.family),
          name(t.config),
          name(t.space),
          evidence(r.evidence),
          {},
          t.standard,
          0,
          t.status,
          t.stage,
          t.timing,
          t.sm_mhz,
          t.registers,
          t.smem_bytes,
          t.spill_bytes,
          t.at_ms,
          r.standard_ns};
  std::copy_n(r.job.begin(), std::min(r.job.size(), row.job.size()), row.job.begin());
  keep(row, r.device_class);
}

void Winners::remove(const Problem& problem, std::string_view device_class) {
  const Row* const known = row_of(problem, device_class);
  if (!known || known->removed) return;
  Row row{};
  row.problem = problem;
  row.device_class = name(device_class);
  row.family = row.config = row.space = name("");
  row.evidence = evidence({});
  row.removed = 1;
  keep(row, device_class);
}

/// The same table without another beneath it.
Winners Winners::flat() const {
  Winners out;
  out.reserve(size_);
  for_each([&](const Winners& table, const Row& row) { out.add(table.record(row)); });
  return out;
}

const Winners::Row* Winners::row_of_own(const Problem& problem, std::string_view device_class) const {
  const auto known = known_name(device_class);
  if (!known || rows_.empty()) return nullptr;
  const uint32_t slot = slots_[slot_of(problem, *known)];
  return slot == 0 ? nullptr : &rows_[slot - 1];
}

/// Also a row that says that the record was removed.
const Winners::Row* Winners::row_of(const Problem& problem, std::string_view device_class) const {
  if (const Row* own = row_of_own(problem, device_class)) return own;
  return under_ ? under_->row_of_own(problem, device_class) : nullptr;
}

Record Winners::record(const Row& row) const {
  const auto end = std::find(row.job.begin(), row.job.end(), '\0');
  Record r;
  r.problem = row.problem;
  r.device_class = names_[row.device_class];
  r.job.assign(row.job.begin(), end);
  r.evidence = evidences_[row.evidence];
  r.trial = {names_[row.family], names_[row.config], names_[row.space], row.standard != 0, row.status,      row.stage,
             row.timing,         row.sm_mhz,         row.registers,     row.smem_bytes,    row.spill_bytes, row.at_ms};
  r.standard_ns = row.standard_ns;
  return r;
}

std::optional<Record> Winners::find(const Problem& problem, std::string_view device_class) const {
  if (const Row* own = row_of_own(problem, device_class))
    return own->removed ? std::nullopt : std::optional(record(*own));
  return under_ ? under_->find(problem, device_class) : std::nullopt;
}

std::vector<Neighbour> Winners::neighbours(const Problem& problem, std::string_view device_class, size_t limit) const {
  struct Found {
    double distance;
    const Winners* table;
    const Row* row;
    bool operator<(const Found& o) const {
      return distance != o.distance ? distance < o.distance : row->problem.field < o.row->problem.field;
    }
  };
  std::vector<Found> found;
  const Winners* asked = nullptr;  // the table whose name of the device class `wanted` is
  std::optional<Name> wanted;
  for_each([&](const Winners& table, const Row& row) {
    if (asked != &table) wanted = (asked = &table)->known_name(device_class);
    if (row.device_class != wanted) return;
    const double d = distance(problem, row.problem);
    if (d < kInfinite) found.push_back({d, &table, &row});
  });
  std::sort(found.begin(), found.end());
  std::vector<Neighbour> out;
  for (size_t i = 0; i < std::min(limit, found.size()); ++i)
    out.push_back({found[i].table->record(*found[i].row), found[i].distance});
  return out;
}

std::vector<Record> Winners::all() const {
  std::vector<Record> out;
  out.reserve(size_);
  for_each([&](const Winners& table, const Row& row) { out.push_back(table.record(row)); });
  std::sort(out.begin(), out.end(), [](const Record& a, const Record& b) {
    if (a.device_class != b.device_class) return a.device_class < b.device_class;
    return text(a.problem) < text(b.problem);
  });
  return out;
}

}  // namespace hstujit
