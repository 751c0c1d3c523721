// What an addmm adds to its product; host and device.
#pragma once

namespace hstu {

enum : int { kNoBias = 0, kRowBias = 1, kResidual = 2 };

}  // namespace hstu
