#include "jit/kernel_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hstujit {
namespace {

// Part of every key: raise it when entries of older libraries must not be read any more.
constexpr int kKeyVersion = 1;

}  // namespace

KernelKey::KernelKey(const Source& source, const Digest& sources)
    : text(fmt::format("hstujit kernel {}\nentry {}\ntarget {}\noptions {}\nunit {}\nsources {}\n", kKeyVersion,
                       source.entry, source.target, fmt::join(source.options, " "), digest(source.unit).hex(),
                       sources.hex())),
      unit(digest(text)) {}

std::string KernelKey::text_with(std::string_view compiler) const {
  return fmt::format("{}compiler {}\n", text, compiler);
}

}  // namespace hstujit
