// The stores' part of the doctor: whether kernels and records can be kept, how well, and what lies underneath.
#include "hstu_tune/doctor.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

namespace hstujit::tool {
namespace {

/// "" when a file can be written there, else why not.
std::string write_problem(const std::string& folder) {
  if (const int error = make_folders(folder)) return std::strerror(error);
  std::string probe = folder + "/doctor-XXXXXX";
  const Fd fd(mkostemp(probe.data(), O_CLOEXEC));
  if (!fd) return std::strerror(errno);
  const int error = write_all(fd.get(), "probe");
  unlink(probe.c_str());
  return error == 0 ? "" : std::strerror(error);
}

/// The kind of network file system that the folder is on; "" for a local one.
std::string network_of(const std::string& folder) {
  struct Kind {
    uint32_t magic;
    const char* name;
  };
  // Those without a name in linux/magic.h: CIFS, Lustre, GPFS, BeeGFS.
  static constexpr Kind kKinds[] = {{NFS_SUPER_MAGIC, "NFS"}, {SMB_SUPER_MAGIC, "SMB"},   {SMB2_SUPER_MAGIC, "SMB"},
                                    {0xFF534D42, "CIFS"},     {0x0BD00BD0, "Lustre"},     {0x47504653, "GPFS"},
                                    {0x19830326, "BeeGFS"},   {CEPH_SUPER_MAGIC, "Ceph"}, {AFS_SUPER_MAGIC, "AFS"}};
  struct statfs info {};
  if (statfs(folder.c_str(), &info) != 0) return "";
  for (const Kind& kind : kKinds)
    if (static_cast<uint32_t>(info.f_type) == kind.magic) return kind.name;
  return "";
}

std::string local_store() { return fmt::format("export HSTUJIT_STORE=/var/tmp/hstujit-{}", getuid()); }

struct Usage {
  int64_t files = 0, bytes = 0;
};

Usage usage_of(const std::filesystem::path& folder) {
  Usage usage;
  std::error_code ignored;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, ignored);
       entry != std::filesystem::recursive_directory_iterator(); entry.increment(ignored)) {
    if (ignored || entry->path().extension() != ".kernel") continue;
    ++usage.files;
    usage.bytes += static_cast<int64_t>(entry->file_size(ignored));
  }
  return usage;
}

/// A pack must be sound and, where there is a GPU, hold kernels for it.
void examine_pack(Findings& findings, const std::string& path) {
  const std::string again = "build it again: hstu-tune build --arch TARGET --workload FILE -o " + path;
  std::set<std::string> targets;
  size_t kernels = 0;
  try {
    const std::vector<Pack::Item> items = Pack(path).items();
    kernels = items.size();
    for (const Pack::Item& item : items) targets.insert(item.kernel.target);
  } catch (const Error& error) { return findings.missing("pack", error.message(), again); }
  const std::string found = fmt::format("{}, {} kernels for {}", path, kernels, fmt::join(targets, ", "));
  if (has_gpu())
    for (const DeviceFacts& facts : devices())
      if (!targets.contains(facts.target))
        return findings.missing("pack", fmt::format("{}; none for {} ({})", found, facts.target, facts.name), again);
  findings.good("pack", found);
}

}  // namespace

void examine_store(Findings& findings, const ContextOptions& options) {
  const std::string& folder = options.store_path;
  if (folder.empty()) return findings.note("store", "none: everything stays in memory");
  if (const std::string problem = write_problem(folder); !problem.empty())
    return findings.missing(
        "store", fmt::format("{} cannot be written: {}", folder, problem),
        fmt::format("{}, or another folder that can be; or serve from a pack (hstu-tune build)", local_store()));
  const Records records(records_options(folder, options.system_store_path, open_pack(options.system_store_path).get()));
  if (!records.durable())
    return findings.missing("store", folder + "/tuner.db cannot be used; HSTUJIT_LOG=warn hstu-tune doctor says why",
                            local_store() + ", or bring this library up to the version that wrote it");
  const Usage usage = usage_of(folder);
  findings.good("store", fmt::format("{}, writable, {} kernels in {:.1f} MiB, {} tuned problems", folder, usage.files,
                                     static_cast<double>(usage.bytes) / (1 << 20), records.winners()->size()));
  if (const std::string network = network_of(folder); !network.empty())
    findings.doubtful("store",
                      fmt::format("{} is on a network file system ({}): machines wait for each other's locks, which "
                                  "hold only as well as the server keeps them",
                                  folder, network),
                      local_store() + "; share records by hstu-tune merge, kernels by a pack (hstu-tune build)");
}

void examine_system_store(Findings& findings, const std::string& folder) {
  if (folder.empty()) return findings.note("system store", "none");
  if (std::filesystem::is_regular_file(folder)) return examine_pack(findings, folder);
  if (std::filesystem::is_directory(folder))
    findings.good("system store", fmt::format("{}, {} kernels", folder, usage_of(folder).files));
  else
    findings.missing("system store", folder + " is neither a folder nor a pack",
                     "correct HSTUJIT_SYSTEM_STORE, or unset it");
}

}  // namespace hstujit::tool
