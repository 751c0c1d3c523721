// A copy of a database's winners in a file beside it, <store>/winners.cache, so that a start with very many of them
// takes milliseconds. It names the state of the database that it was taken from; what changed since is read from there,
// and a database that never was in that state does not believe it.
#pragma once

#include "records/tables.hpp"
#include "records/tuner_file.hpp"
#include "records/winners.hpp"

namespace hstujit {

/// Winners of fewer problems are read as fast from the database.
constexpr size_t kWorthCaching = 2000;

/// The winners in the database, whose state is `now`: from the cache and what changed since, else row by row. If there
/// are enough and `keep`, the cache is written anew when it was of no use or much had changed. Trouble with the cache
/// is no trouble. Belongs into a transaction.
Winners winners_of(TunerFile& file, const Mark& now, bool keep);

}  // namespace hstujit
