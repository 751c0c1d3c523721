#include "jit/compiler_memo.hpp"

#include "cuda/nvrtc.hpp"
#include "support/env.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/json.hpp"

#include <vector>

namespace hstujit {
namespace {

std::string text_of(const FileStamp& stamp) {
  return fmt::format("{} bytes, modified {}, inode {}", stamp.size, stamp.modified_ns, stamp.inode);
}

void add_stamp(Digester& digester, const std::string& path) {
  FileStamp stamp;
  digester.add(stamp_of(path, stamp) == 0 ? text_of(stamp) : "absent");
}

// Digest of all that decides which file a search for NVRTC ends at, as far as it can be known without searching.
std::string search_name(const std::string& nvrtc_path) {
  const Environment env = Environment::read();
  Digester digester;
  digester.add(env.nvrtc_flags).add(env.library_path);
  add_stamp(digester, "/etc/ld.so.cache");
  for (const std::string& candidate : nvrtc_path.empty() ? nvrtc_candidates() : std::vector{nvrtc_path}) {
    digester.add(candidate);
    if (candidate.find('/') != std::string::npos) add_stamp(digester, candidate);
  }
  return digester.finish().hex();
}

}  // namespace

CompilerMemo::CompilerMemo(const std::string& folder, const std::string& nvrtc_path)
    : file_(folder + "/" + search_name(nvrtc_path) + ".json") {}

std::optional<std::string> CompilerMemo::recall() const {
  std::string text;
  if (read_file(file_, text) != 0) return std::nullopt;
  try {
    const auto memo = read_json(text);
    FileStamp stamp;
    const auto text_at = [&](const char* member) { return memo.at(member).get_ref<const std::string&>(); };
    if (stamp_of(text_at("library"), stamp) != 0 || text_at("stamp") != text_of(stamp)) return std::nullopt;
    return memo.at("identity");
  } catch (const Json::exception&) { return std::nullopt; }
}

int CompilerMemo::remember(const std::string& library_path, const std::string& identity) const {
  FileStamp stamp;
  if (const int failed = stamp_of(library_path, stamp)) return failed;
  const Json memo{{"library", library_path}, {"stamp", text_of(stamp)}, {"identity", identity}};
  return publish_file(file_, write_json(memo, 2) + "\n");
}

}  // namespace hstujit
