// The order of tiles of (sequence, head) pairs: sections of neighbouring pairs, whose keys share the L2 cache, one
// after the other; in a section level by level, from the tiles of most keys down; in a level pair by pair.
//
// first_early: the first level of a section stands before all other levels of the section before it. For tiles that see
// far more keys than the others do, as those of contextual rows beside a window: where they begin with their section,
// the last ones are waited for when all other tiles are done.
#pragma once
#include "prim/types.cuh"

namespace hstu::tile {

struct SectionOrder {
  u32 pair, level;

  // Tile `index` of pairs * levels.
  HSTU_PRIM SectionOrder(u32 index, u32 pairs, u32 section_pairs, u32 levels, bool first_early) {
    const u32 last = (pairs - 1) / section_pairs, section_tiles = section_pairs * levels;
    const u32 pairs_of_last = pairs - last * section_pairs;
    const auto pairs_of = [&](u32 section) { return section < last ? section_pairs : pairs_of_last; };
    if (!first_early) {
      const u32 section = index / section_tiles;
      find(section * section_pairs, pairs_of(section), index - section * section_tiles);
      return;
    }
    // The first level of the first section; then, for each section, the first level of the next and its own others.
    const u32 before = pairs_of(0);
    find(0, before, index);
    if (index < before) return;
    index -= before;
    const u32 last_begin = last == 0 ? 0 : last * section_tiles - (section_pairs - pairs_of_last);
    const u32 section = index >= last_begin ? last : index / section_tiles;
    index -= section == last ? last_begin : section * section_tiles;
    const u32 next = section == last ? 0 : pairs_of(section + 1);
    find((section + 1) * section_pairs, next, index);
    if (index < next) return;
    find(section * section_pairs, pairs_of(section), index - next);
    ++level;
  }

 private:
  HSTU_PRIM void find(u32 first_pair, u32 count, u32 index) {
    level = count == 0 ? 0 : index / count;
    pair = first_pair + index - level * count;
  }
};

}  // namespace hstu::tile
