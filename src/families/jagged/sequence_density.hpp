// Sequences a row, for kernels that look for a row's sequence near where it were if all were as long:
// find_sequence_near of kernels/tile/jagged.cuh.
#pragma once

#include <cstdint>

namespace hstujit {

/// Times 2^32; of at most 2^31 sequences. Part of the hot path.
inline int64_t sequence_density(int64_t batch, int64_t rows) { return rows == 0 ? 0 : (batch << 32) / rows; }

}  // namespace hstujit
