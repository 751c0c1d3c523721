// A copy of a database's winners in a file beside it, <store>/winners.cache, so that a start with very many of them
// takes milliseconds. It names the state of the database that it was taken from and is never believed for another.
#pragma once

#include "tuner/tuner_file.hpp"
#include "tuner/winners.hpp"

namespace hstujit {

/// Winners of fewer problems are read as fast from the database.
constexpr size_t kWorthCaching = 2000;

/// The winners in the database: from the cache if it is of this very state, else row by row; then, if there are enough
/// and `keep`, the cache is written anew. Trouble with the cache is no trouble.
Winners winners_of(TunerFile& file, bool keep);

}  // namespace hstujit
