// The writable database as a file that several processes share and that may be damaged, replaced or taken away.
#pragma once

#include "records/database.hpp"
#include "records/schema.hpp"

#include <sys/types.h>

#include <string>

namespace hstujit {

struct TunerFile {
  Connection connection;
  std::string path;  ///< "" for a database in memory
  SchemaState schema = SchemaState::current;

  bool durable() const { return !path.empty(); }
  /// False after fork(), and when the file at `path` is no longer the one that was opened.
  bool current() const;

  ino_t inode = 0;
  dev_t device = 0;
  pid_t process = 0;
};

TunerFile open_in_memory();

/// Opens or creates `path` and the folders above it. A file that is not a sound database is renamed to
/// <path>.damaged-<time> and replaced. Throws DatabaseError when the file cannot be written, or others lock it for
/// longer than `patience`, which the connection keeps.
TunerFile open_file(const std::string& path, Patience patience = patience_of(kPatience));

/// Renames the file if a complete check finds it damaged; one process at a time looks. Throws DatabaseError.
void set_aside_if_damaged(const std::string& path, Patience patience = patience_of(kPatience));

}  // namespace hstujit
