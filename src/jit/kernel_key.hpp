// What names a compiled kernel: everything that can change its binary, and nothing else (no paths, host, driver, time).
#pragma once

#include "specialise/source.hpp"
#include "support/hash.hpp"

#include <string>
#include <string_view>

namespace hstujit {

struct KernelKey {
  std::string text;  ///< format version, entry, target, options, digests of unit and kernel sources; a line each
  Digest unit;       ///< of the text: the kernel whichever compiler makes it

  /// `sources` is the digest of the unit's header and all it includes.
  KernelKey(const Source& source, const Digest& sources);

  /// The whole key: the text and the compiler's identity.
  std::string text_with(std::string_view compiler) const;
  Digest digest_with(std::string_view compiler) const { return digest(text_with(compiler)); }
};

}  // namespace hstujit
