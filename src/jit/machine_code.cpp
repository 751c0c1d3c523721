#include "jit/machine_code.hpp"

#include <elf.h>

#include <cstring>
#include <set>
#include <string>

namespace hstujit {
namespace {

/// A struct at a place of the file; nothing when it reaches beyond the end.
template <class T>
std::optional<T> read_at(std::string_view file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::optional<std::string_view> contents(std::string_view file, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS) return std::string_view();
  if (section.sh_offset > file.size() || file.size() - section.sh_offset < section.sh_size) return std::nullopt;
  return file.substr(section.sh_offset, section.sh_size);
}

bool counts(std::string_view name) { return name.starts_with(".text.") || name.starts_with(".nv.constant"); }

/// For a section of code the linker's word on it has its registers.
std::string described(const Elf64_Shdr& section, std::string_view bytes) {
  const Digest digest = Digester().add(bytes).finish();
  return std::to_string(section.sh_info >> 24) + " " + std::to_string(section.sh_size) + " " + digest.hex();
}

}  // namespace

std::optional<Digest> machine_code(std::string_view cubin) {
  const auto header = read_at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  const auto section_at = [&](uint64_t index) {
    return read_at<Elf64_Shdr>(cubin, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names_section = section_at(header->e_shstrndx);
  const auto names = names_section ? contents(cubin, *names_section) : std::nullopt;
  if (!names) return std::nullopt;
  std::multiset<std::string> parts;  // their order in the file says nothing
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section || section->sh_name >= names->size()) return std::nullopt;
    const std::string_view name = names->substr(section->sh_name);
    if (!counts(name)) continue;
    const auto bytes = contents(cubin, *section);
    if (!bytes) return std::nullopt;
    parts.insert(described(*section, *bytes));
  }
  if (parts.empty()) return std::nullopt;
  Digester digester;
  for (const std::string& part : parts) digester.add(part);
  return digester.finish();
}

}  // namespace hstujit
