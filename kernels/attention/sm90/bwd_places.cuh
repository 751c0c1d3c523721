// The places of attn_bwd_sm90, and what they see of the tiles of the other side. Tiles lie whole numbers of tiles from
// the start of their sequence, for TMA gives zeros behind its end only.
#pragma once
#include "attention/bwd/places.cuh"
#include "attention/section_order.cuh"
#include "attention/sm90/bwd_shape.cuh"

namespace hstu::attn_bwd90 {

using attn_bwd_detail::Rows;

// A place of the order: a tile of own rows of a head, of kind kKeys and kValues one of k and v.
template <class Config>
struct Place {
  using T = Shape<Config>;
  Kind kind;
  int seq, head;
  int level, levels;  // of the order: the longest walks come first

  HSTU_PRIM static int count(const AttnBwdParams& p) { return p.key_places + p.value_places + p.query_places; }

  HSTU_PRIM Place(const AttnBwdParams& p, int index) {
    kind = kKeys;
    if (index >= p.key_places) {
      index -= p.key_places;
      kind = kValues;
      if (index >= p.value_places) {
        index -= p.value_places;
        kind = kQueries;
      }
    }
    constexpr u32 kHeads = variant::heads_per_kv<Config>(0);
    const bool queries = kind == kQueries;
    const u32 group = queries ? 1 : kHeads, heads = p.forward.num_heads / group;
    const u32 section = (p.forward.section_pairs + group - 1) / group;
    levels = queries ? p.query_levels : p.key_levels;
    const tile::SectionOrder order(index, p.forward.batch * heads, section, levels, false);
    seq = order.pair / heads;
    head = order.pair - seq * heads;
    level = order.level;
  }
  // Of a sequence with so many tiles: the place's first, and from it to the next where the grid foresaw a shorter one.
  // Outside [0, tiles) there is none. Walks are the longer the nearer query rows are to the sequence's end, and keys to
  // its start.
  HSTU_PRIM int first_tile(int tiles) const { return kind == kQueries ? levels - 1 - level : tiles - levels + level; }
  HSTU_PRIM int stride() const { return kind == kQueries ? levels : -levels; }
};

// What 64 own rows from position `own` on see of a tile of the other side, which has no rows behind the sequence.
template <class Config, bool kKeySide>
struct Sight {
  using Mask = typename Config::Mask;

  HSTU_PRIM static bool some(const Mask& mask, int rows, int own, int begin) {
    const int own_end = variant::min_int(own + 64, rows), end = variant::min_int(begin + Shape<Config>::kWalk, rows);
    if (own >= own_end || begin >= end) return false;
    return kKeySide ? variant::sees_some(mask, begin, end, own, own_end)
                    : variant::sees_some(mask, own, own_end, begin, end);
  }
  HSTU_PRIM static bool all(const Mask& mask, int rows, int own, int begin) {
    const int own_end = variant::min_int(own + 64, rows), end = variant::min_int(begin + Shape<Config>::kWalk, rows);
    return kKeySide ? variant::sees_all(mask, begin, end, own, own_end)
                    : variant::sees_all(mask, own, own_end, begin, end);
  }
};

// The query heads of a place.
template <class Config, bool kKeySide>
HSTU_PRIM int first_head(int head) {
  return kKeySide ? head * variant::heads_per_kv<Config>(0) : head;
}
template <class Config, bool kKeySide>
HSTU_PRIM int last_head(int head) {
  return first_head<Config, kKeySide>(head) + (kKeySide ? variant::heads_per_kv<Config>(0) : 1);
}

}  // namespace hstu::attn_bwd90
