// Winners as bytes and back: a copy of the table as it lies in memory, for the cache beside a database. What does not
// check out is refused as a whole; the database has the same to say.
#include "operators/sound.hpp"
#include "records/possible.hpp"
#include "records/schema.hpp"
#include "records/winners.hpp"
#include "support/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace hstujit {
namespace {

constexpr char kMagic[8] = {'h', 's', 't', 'u', 'w', 'i', 'n', '2'};

constexpr size_t kRoomForChanges = 1024;  // which are added at once, without moving all rows

struct Header {
  char magic[8];
  uint64_t row_bytes;  ///< with `layout`: whether rows mean the same to this library
  int64_t layout;
  uint64_t rows, slots, names, evidences;
  uint64_t content_high, content_low;
};

void put(std::string& out, const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); }

void put(std::string& out, std::string_view text) {
  const uint64_t size = text.size();
  put(out, &size, sizeof size);
  out += text;
}

/// Takes parts off the front; a part that is not there leaves `sound` false.
struct Parts {
  std::string_view rest;
  bool sound = true;

  bool take(void* to, size_t bytes) {
    sound = sound && bytes <= rest.size();
    if (!sound) return false;
    if (bytes > 0) std::memcpy(to, rest.data(), bytes);  // of an empty table, `to` is null
    rest.remove_prefix(bytes);
    return true;
  }
  std::string text() {
    uint64_t size = 0;
    if (!take(&size, sizeof size) || size > rest.size()) return sound = false, std::string();
    std::string out(rest.substr(0, size));
    rest.remove_prefix(size);
    return out;
  }
};

}  // namespace

std::string Winners::bytes() const {
  static_assert(std::is_trivially_copyable_v<Row>);
  if (under_) return flat().bytes();
  std::string content;
  put(content, rows_.data(), rows_.size() * sizeof(Row));
  put(content, slots_.data(), slots_.size() * sizeof(uint32_t));
  for (const std::string& name : names_) put(content, name);
  for (const Evidence& e : evidences_) {
    for (const std::string* text : {&e.device, &e.compiler, &e.kernels, &e.library}) put(content, *text);
    put(content, &e.driver, sizeof e.driver);
  }
  const Digest check = digest(content);
  Header header{
      {},         sizeof(Row), problem_layout(), rows_.size(), slots_.size(), names_.size(), evidences_.size(),
      check.high, check.low};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + content;
}

std::optional<Winners> Winners::of_bytes(std::string_view bytes) {
  Header header;
  Parts parts{bytes};
  if (!parts.take(&header, sizeof header) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 ||
      header.row_bytes != sizeof(Row) || header.layout != problem_layout() ||
      digest(parts.rest) != Digest{header.content_high, header.content_low} ||
      header.rows > parts.rest.size() / sizeof(Row) || header.slots > parts.rest.size() / sizeof(uint32_t))
    return std::nullopt;
  Winners out;
  out.rows_.reserve(header.rows + kRoomForChanges);
  out.rows_.resize(header.rows);
  out.slots_.resize(header.slots);
  parts.take(out.rows_.data(), header.rows * sizeof(Row));
  parts.take(out.slots_.data(), header.slots * sizeof(uint32_t));
  for (uint64_t i = 0; i < header.names && parts.sound; ++i) out.name(parts.text());
  for (uint64_t i = 0; i < header.evidences && parts.sound; ++i) {
    Evidence e;
    for (std::string* text : {&e.device, &e.compiler, &e.kernels, &e.library}) *text = parts.text();
    parts.take(&e.driver, sizeof e.driver);
    out.evidence(e);
  }
  if (!parts.sound || !out.consistent()) return std::nullopt;
  out.size_ = static_cast<size_t>(std::ranges::count(out.rows_, 0, &Row::removed));
  return out;
}

/// Whether no index leads outside, every flag is one and every number can be; true of every table that was written
/// whole.
bool Winners::consistent() const {
  const auto known = [&](const Row& row) {
    const size_t names = names_.size();
    const TrialNumbers numbers{row.stage,     row.status,     row.timing,      row.sm_mhz,
                               row.registers, row.smem_bytes, row.spill_bytes, row.at_ms};
    return sound(row.problem) && (row.removed || impossible(numbers).empty()) &&
           impossible_standard(row.standard_ns).empty() && row.device_class < names && row.family < names &&
           row.config < names && row.space < names && row.evidence < evidences_.size() && row.standard <= 1 &&
           row.removed <= 1;
  };
  size_t used = 0;
  for (const uint32_t slot : slots_) {
    if (slot > rows_.size()) return false;
    used += slot != 0;
  }
  return (slots_.empty() || std::has_single_bit(slots_.size())) && used == rows_.size() && 2 * used <= slots_.size() &&
         std::all_of(rows_.begin(), rows_.end(), known);
}

}  // namespace hstujit
