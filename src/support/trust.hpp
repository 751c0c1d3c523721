// Who could have written what a path leads to. Stores and packs are checked against damage, not against forgery:
// whoever can write there decides which code runs on the device.
#pragma once

#include <string>

namespace hstujit {

/// Why somebody else than this process's user and root may have written there, or may exchange it: another owner, a
/// file or folder that everybody may write to, a folder above it that is so without the sticky bit. "" when nobody
/// could, as far as owners and permissions say. Groups are the administrator's affair. Of a path that is not there yet:
/// of the folder that it would be made in.
std::string doubt_about(const std::string& path);

enum class Named {
  by_default,  ///< by this library, from HOME or XDG_CACHE_HOME
  by_host,     ///< by whoever asked for it
};

/// The path, if it is to be used, else "". What is doubted is refused when `strict` (Error{STORE}), left out when the
/// library chose it, and used otherwise; both with a warning. A folder by default is made for its user alone.
std::string trusted(const std::string& path, Named named, bool strict);

}  // namespace hstujit
