// What a product has added to it, as bits: a bias row, a residual, or both; host and device.
#pragma once

namespace hstu {

enum : int { kNoBias = 0, kRowBias = 1, kResidual = 2 };

}  // namespace hstu
