// The gradient of concat_2d_jagged_sm80: each row of left's and right's gradient is the row of dout that it became, and
// 0 where a replacement left it out, sm80.
//
// Work      A block writes rows of dleft or of dright; right's blocks are spread among left's, so that both read near
//           the same place. A warp takes pieces that follow one another, kAccesses a lane (tile/warp_copy.cuh), and
//           finds their rows' sequences first: rows that get 0 are not read.
// Memory    No shared memory and no barrier. `combined` of the parameters is dout; left and right are the gradients.
// Config    facts and knobs of jagged/runs/jagged_copy.cuh; kReplace.
// Sources   meta-recsys/generative-recommenders, concat_2D_jagged and replace_last_n_with_jagged.
#pragma once
#include "jagged/runs/jagged_copy.cuh"

namespace hstu {

namespace concat_2d_jagged_bwd {

// Rows of one part's gradient.
template <class Config, bool kLeft, class Left, class Right>
struct Gatherer : tile::JaggedCopier<Config, Left, Right> {
  using Base = tile::JaggedCopier<Config, Left, Right>;
  using Run = tile::WarpPieces<Base::kRowPieces, Base::kThreads, Base::kAccesses>;
  enum : int { kAccesses = Base::kAccesses };
  enum : bool { kOneRow = Run::kRows == 1 };

  HSTU_PRIM const auto& part() const {
    if constexpr (kLeft)
      return Base::left;
    else
      return Base::right;
  }

  HSTU_PRIM void run(u32 block) const {
    const Run pieces(block);
    const i64 rows = part().p.rows;
    if (pieces.first_row >= rows) return;
    const i64 last_row = kOneRow ? pieces.first_row : min(pieces.first_row + Run::kRows, rows) - 1;
    const auto range =
        tile::SequenceRange::near(part().starts, Base::batch(), part().p.density, pieces.first_row, last_row);
    tile::Piece<Base::kPieceBytes> data[kAccesses] = {};
    char* to[kAccesses];
    tile::RowAddresses row{nullptr, nullptr};
    if (kOneRow) row = addresses(range, pieces.first_row);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (!kOneRow) row = addresses(range, pieces.first_row + pieces.row(a));
      const i64 byte = Base::byte_to(pieces.piece_of_row(a));
      to[a] = row.to ? row.to + byte : nullptr;
      if (row.from) data[a].load(row.from + byte);
    }
#pragma unroll
    for (int a = 0; a < kAccesses; ++a)
      if (to[a]) data[a].store(to[a]);
  }

 private:
  // Of row `row` of the part: where it goes and comes from; from nowhere: it is 0; to nowhere: it is of no sequence.
  HSTU_PRIM tile::RowAddresses addresses(const tile::SequenceRange& range, i64 row) const {
    if (!kOneRow && row >= part().p.rows) return {nullptr, nullptr};
    const tile::SequenceParts s = Base::parts(kOneRow ? range.first : range.of(part().starts, row));
    const i64 first = kLeft ? s.left_start : s.right_start, count = kLeft ? s.left_rows : s.right_rows;
    const i64 local = row - first;
    if (local < 0 || local >= count) return {nullptr, nullptr};
    const i64 from = combined_row(s, local);
    return {from < 0 ? nullptr : static_cast<const char*>(Base::p.combined) + from * Base::p.combined_row_stride,
            part().row(s.sequence, first, local)};
  }
  // The row of dout that row `local` of the sequence became; negative where it became none.
  HSTU_PRIM i64 combined_row(const tile::SequenceParts& s, i64 local) const {
    if constexpr (Config::kReplace) {
      const i64 kept = s.left_rows - s.right_rows;
      if constexpr (kLeft) return local < kept ? s.left_start + local : -1;
      return kept + local < 0 ? -1 : s.left_start + kept + local;
    } else {
      const i64 prefix = Base::prefix(s);
      return s.combined_start() + (kLeft ? prefix + local : local < prefix ? local : local + s.left_rows);
    }
  }
};

template <class Config, bool kLeft, class Left, class Right>
HSTU_PRIM void gather_part(const JaggedCopyParams& p, const Left& left, const Right& right, u32 block) {
  const Gatherer<Config, kLeft, Left, Right> gatherer{{p, left, right}};
  gatherer.run(block);
}

}  // namespace concat_2d_jagged_bwd

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    concat_2d_jagged_bwd_sm80(const __grid_constant__ JaggedCopyParams p) {
  using namespace concat_2d_jagged_bwd;
  const tile::Part<typename Config::LeftOffset> left(p.left);
  const tile::Part<typename Config::RightOffset> right(p.right);
  const u32 right_before = static_cast<u32>(blockIdx.x * static_cast<u64>(p.right_share) >> 32),
            right_here = static_cast<u32>((blockIdx.x + u64{1}) * static_cast<u64>(p.right_share) >> 32);
  if (right_before == right_here)
    gather_part<Config, true>(p, left, right, blockIdx.x - right_before);
  else
    gather_part<Config, false>(p, left, right, right_before);
}

}  // namespace hstu
