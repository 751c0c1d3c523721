// Sorting by samples: each block sorts the elements of one range of keys, which all blocks cut alike, and needs nothing
// from the others.
//
//   a sample of all keys ──► smem, sorted ──► the block's range ──► all keys: those below counted, the range's
//   ──► smem, sorted ──► written behind as many as are below
//
// Elements  are told apart by key and index, so that equal keys are parted like others and keep their order.
// Rooms     A range with more elements than the block has room for is sorted in several rounds: what was found is a
//           sample of it, which says where to cut.
// Work      Each block reads all keys, mostly from L2: n^2 / (elements a block has) reads, and no comparison more.
// Config    Key (i32, i64). knobs: kThreads, kRoom (elements, a power of two).
#pragma once
#include "jagged/rank_sort.h"
#include "jagged/runs/block_scan.cuh"

namespace hstu::tile {

template <class Key>
struct SortItem {
  Key key;
  int index;
  HSTU_PRIM bool operator<(const SortItem& other) const {
    return key < other.key || (key == other.key && index < other.index);
  }
};

template <class Config>
struct SampleSortStorage {
  enum : int { kSample = Config::kRoom / 2 };
  SortItem<typename Config::Key> item[Config::kRoom];
  int warp_sums[Config::kThreads / 32], found;
};

// Source: key(p, index), as it is compared, and write(p, index, place).
template <class Config, class Source>
class SampleSort {
  using Key = typename Config::Key;
  using Item = SortItem<Key>;
  using Storage = SampleSortStorage<Config>;
  enum : int { kThreads = Config::kThreads, kRoom = Config::kRoom, kSample = Storage::kSample, kAtOnce = 8 };

  const RankSortParams& p_;
  Storage& storage_;

  HSTU_PRIM static int rank() { return static_cast<int>(threadIdx.x); }
  HSTU_PRIM static constexpr Key least() {
    return static_cast<Key>(Key{1} << (8 * static_cast<int>(sizeof(Key)) - 2)) * -2;
  }
  HSTU_PRIM static Item first() { return {least(), 0}; }
  HSTU_PRIM static Item last() { return {static_cast<Key>(~least()), 0x7fffffff}; }  // behind all elements
  HSTU_PRIM Item at(int index) const { return {Source::key(p_, index), index}; }

  // Sorts the first `count` items of the storage, a power of two; begins and ends with a barrier.
  HSTU_PRIM void sort(int count) const {
    Item* const item = storage_.item;
    for (int run = 2; run <= count; run *= 2) {
      for (int step = run / 2; step > 0; step /= 2) {
        __syncthreads();
        for (int i = rank(); i < count / 2; i += kThreads) {
          const int low = 2 * i - (i & (step - 1)), high = low + step;
          const Item a = item[low], b = item[high];
          if ((b < a) == ((low & run) == 0)) {
            item[low] = b;
            item[high] = a;
          }
        }
      }
    }
    __syncthreads();
  }
  // The same of any number, with room behind them for the next power of two.
  HSTU_PRIM void sort_any(int count) const {
    int padded = 1;
    while (padded < count) padded *= 2;
    for (int i = count + rank(); i < padded; i += kThreads) storage_.item[i] = last();
    sort(padded);
  }

  // One of each of kSample equal spans of elements, anywhere in it: a regular pattern of keys does not hit it.
  HSTU_PRIM void take_sample() const {
    for (int i = rank(); i < kSample; i += kThreads) {
      const i64 begin = i64{p_.count} * i / kSample, end = i64{p_.count} * (i + 1) / kSample;
      const u32 scrambled = (static_cast<u32>(i) * 0x9e3779b9u) ^ (static_cast<u32>(i) * 0x85ebca6bu >> 13);
      storage_.item[i] =
          at(static_cast<int>(begin + static_cast<i64>(scrambled % static_cast<u32>(max(end - begin, i64{1})))));
    }
    sort(kSample);
  }
  HSTU_PRIM Item cut(u32 block) const {
    if (block == 0) return first();
    return block == gridDim.x ? last() : storage_.item[static_cast<int>(u64{block} * kSample / gridDim.x)];
  }

  // Puts the elements from `low` up to `high` into the storage, as far as there is room; returns how many there are.
  HSTU_PRIM int find(const Item& low, const Item& high, int& below) const {
    __syncthreads();
    if (rank() == 0) storage_.found = 0;
    __syncthreads();
    int below_here = 0;
    for (int begin = rank(); begin < p_.count; begin += kThreads * kAtOnce) {
      Item item[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) item[i] = at(min(begin + i * kThreads, p_.count - 1));
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (begin + i * kThreads >= p_.count) break;
        const bool is_below = item[i] < low;
        below_here += is_below;
        if (is_below || !(item[i] < high)) continue;
        const int place = atomicAdd(&storage_.found, 1);
        if (place < kRoom) storage_.item[place] = item[i];
      }
    }
    sum_before<kThreads>(below_here, below, storage_.warp_sums);
    return storage_.found;
  }

 public:
  HSTU_PRIM SampleSort(const RankSortParams& p, Storage& storage) : p_(p), storage_(storage) {}

  HSTU_PRIM void run() const {
    take_sample();
    Item low = cut(blockIdx.x);
    const Item end = cut(blockIdx.x + 1);
    for (Item high = end; low < end;) {
      int below = 0;
      const int found = find(low, high, below);
      if (found > kRoom) {
        sort(kRoom);
        high = storage_.item[max(static_cast<int>(i64{kRoom} * kRoom / 2 / found), 1)];
        continue;
      }
      sort_any(found);
      for (int i = rank(); i < found; i += kThreads) Source::write(p_, storage_.item[i].index, below + i);
      low = high;
      high = end;
    }
  }
};

}  // namespace hstu::tile
