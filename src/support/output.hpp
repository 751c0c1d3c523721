// Files that a person named: results, exports, packs. Whatever lies there stays what it is.
#pragma once

#include <string>
#include <string_view>

namespace hstujit {

/// Writes all of `bytes` to `path`; 0, or errno. A regular file is replaced at once, as publish_file() does, and so is
/// nothing at all; to devices, pipes and through symbolic links, which stay, the bytes are written as a shell's ">"
/// would. A path that means our own standard output or error, as /dev/stdout does, is written where those are.
int write_output(const std::string& path, std::string_view bytes);

}  // namespace hstujit
