// Which of a family's sources a run of the tests compiles. All that changed since the list of what was compiled whole,
// tests/families/compiled.txt, was written; of the rest a share, another one each day. tools/full_check.sh compiles
// everything and writes the list.
#pragma once

#include "specialise/source.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hstujit::test {

struct DueSources {
  std::vector<const Source*> sources;
  std::string
      line;  ///< of compiled.txt: "<family> <target> <digest of all sources and of the kernel text behind them>"
};

/// Of all the sources of a family for a target. HSTUJIT_COMPILE=all of the environment asks for each of them, a number
/// for the share of that day. A share is never empty.
DueSources due_sources(std::string_view family, std::string_view target, const std::vector<const Source*>& all);

/// Puts the line behind the file that HSTUJIT_COMPILED of the environment names, when all sources were compiled.
void note_compiled(const DueSources& compiled, size_t of);

}  // namespace hstujit::test
