#include "jit/adopt.hpp"

#include "jit/store_names.hpp"
#include "support/files.hpp"
#include "support/folder.hpp"

#include <cerrno>

namespace hstujit {
namespace {

struct Shard {
  Folder folder;
  std::string path;
};

int copy(const Shard& from, const Shard& to, const std::string& name) {
  std::string bytes;
  const int failed = read_file(from.path + "/" + name, bytes);
  return failed ? failed : publish_file(to.path + "/" + name, bytes);
}

/// 0, or errno; EEXIST when it is there already.
int adopt(const Shard& from, const Shard& to, const std::string& name) {
  const int failed = from.folder.link(name, to.folder);
  if (failed == 0 || failed == EEXIST) return failed;
  FileStamp stamp;
  return to.folder.stamp_of(name, stamp) == 0 ? EEXIST : copy(from, to, name);
}

void adopt_all(const Shard& from, const Shard& to, AdoptedKernels& adopted) {
  for (const std::string& name : from.folder.names()) {
    FileStamp stamp;
    if (!store_names::is_entry(name) || from.folder.stamp_of(name, stamp) != 0) continue;
    const int failed = adopt(from, to, name);
    adopted.count += failed == 0;
    adopted.lost += failed != 0 && failed != EEXIST;
    if (failed != 0 && failed != EEXIST) adopted.error = failed;
  }
}

}  // namespace

AdoptedKernels adopt_kernels(const std::string& from, const std::string& to) {
  AdoptedKernels adopted;
  const Folder kernels(from + "/kernels");
  for (const std::string& name : kernels.names()) {
    if (!store_names::is_shard(name)) continue;
    const std::string place = "/kernels/" + name;
    make_folders(to + place);
    adopt_all({kernels.inside(name), from + place}, {Folder(to + place), to + place}, adopted);
  }
  return adopted;
}

}  // namespace hstujit
