#include "fuzz/targets.hpp"

#include "jit/entry.hpp"
#include "jit/pack.hpp"
#include "jit/tiny_kernel.hpp"
#include "records/records_text.hpp"
#include "records/winners.hpp"
#include "support/compress.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/recorded_text.hpp"
#include "workload/calls.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace hstujit::fuzz {
namespace {

using namespace test;

void put(std::string& bytes, size_t at, uint64_t value) {
  if (bytes.size() >= at + sizeof value) std::memcpy(&bytes[at], &value, sizeof value);
}

/// A digest of what follows the first `header` bytes goes to `at`; a hash of what precedes header - 8 goes there.
void seal_content(std::string& bytes, size_t header, size_t at, bool hashed) {
  if (bytes.size() < header) return;
  const Digest check = digest(std::string_view(bytes).substr(header));
  put(bytes, at, check.high);
  put(bytes, at + 8, check.low);
  if (hashed) put(bytes, header - 8, hash64(bytes.data(), header - 8));
}

CompiledKernel kernel() {
  CompiledKernel out;
  out.name = "tiny";
  out.target = "sm_80";
  out.binary = std::string(300, 'b');
  out.compiler = "NVRTC 13.0 abc";
  out.log = "ptxas info : Used 8 registers";
  return out;
}

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// ---- Entries of a store

const KernelKey& entry_key() {
  static const KernelKey key(TinyKernels::source(1), Digest{1, 2});
  return key;
}
bool parse_entry(const std::string& bytes) {
  const auto found = decode_entry(bytes, entry_key(), "");
  return inspect_entry(bytes).has_value() && found;
}
std::vector<std::string> entries() {
  return {encode_entry(entry_key(), kernel(), Packing::zstd), encode_entry(entry_key(), kernel(), Packing::none)};
}
void seal_entry(std::string& bytes) {
  if (bytes.size() < 64) return;
  const uint64_t payload = bytes.size() - 64 - (uint8_t(bytes[12]) | uint8_t(bytes[13]) << 8);
  put(bytes, 16, payload);
  if (bytes[8] == static_cast<char>(Packing::none)) put(bytes, 24, payload);
  seal_content(bytes, 64, 32, true);
}

// ---- Packs

std::vector<std::string> packs() {
  PackBuilder builder;
  for (const int value : {1, 2}) builder.add(KernelKey(TinyKernels::source(value), Digest{1, 2}), kernel());
  return {builder.finish("records")};
}
/// A pack is a file: here one without a place on disk.
bool parse_pack(const std::string& bytes) {
  static const int file = memfd_create("pack", 0);
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  const Pack pack("/proc/self/fd/" + std::to_string(file));
  pack.load_any(entry_key());
  return pack.items().size() == 2 && pack.records() == "records";
}
void seal_pack(std::string& bytes) {
  put(bytes, 16, bytes.size());
  seal_content(bytes, 64, 40, true);
}

// ---- Copies of winners

std::vector<std::string> copies() {
  Winners winners;
  Record record;
  record.device_class = kDevice;
  record.trial = trial("tile=32", 900);
  for (int i = 1; i < 5; ++i) {
    record.problem = rows_problem(4096, i);
    winners.add(record);
  }
  return {winners.bytes()};
}
bool parse_copy(const std::string& bytes) {
  const auto read = Winners::of_bytes(bytes);
  if (read) read->neighbours(rows_problem(4096), kDevice, 3);
  return read && read->find(rows_problem(4096, 1), kDevice);
}

// ---- Texts

std::vector<std::string> workloads() {
  const auto folder = source_dir() / "tools/workloads";
  return {bytes_of_file(folder / "dlrm_v3.json"), bytes_of_file(folder / "figures.json")};
}
std::vector<std::string> exports() {
  Job one = job("1", rows_problem(4096));
  one.trials = {standard_trial(1000), trial("tile=32 stages=2", 900)};
  return {to_text({one})};
}
std::vector<std::string> spaces() { return {"hstujit-space-1\nsource here\nknobs a b\n1 2 300\n1 4 200\n2 4 -\n"}; }

constexpr Target kTargets[] = {
    {"entry", entries, parse_entry, seal_entry},
    {"pack", packs, parse_pack, seal_pack},
    {"winners", copies, parse_copy, [](std::string& bytes) { seal_content(bytes, 72, 56, false); }},
    {"workload", workloads, [](const std::string& bytes) { return !parse_workload(bytes).name.empty(); }, nullptr},
    {"records", exports, [](const std::string& bytes) { return !jobs_of_text(bytes).empty(); }, nullptr},
    {"space", spaces,
     [](const std::string& bytes) { return space_of_bytes(compressed(bytes)).recorded.space.size() > 0; }, nullptr},
    {"problem", [] { return std::vector{text(rows_problem(4096))}; },
     [](const std::string& bytes) { return parse_problem(bytes).has_value(); }, nullptr},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* target_named(std::string_view name) {
  for (const Target& target : kTargets)
    if (name == target.name) return &target;
  return nullptr;
}

bool survives(const Target& target, const std::string& bytes) {
  try {
    return target.parse(bytes);
  } catch (const Error& error) {
    if (error.message().empty()) std::abort();
    return false;
  }
}

}  // namespace hstujit::fuzz
