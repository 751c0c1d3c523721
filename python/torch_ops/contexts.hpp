// One context of the library for each device that torch has, made at first use.
#pragma once

#include <hstujit/hstujit.h>

#include <cstdint>

namespace hstujit_torch {

/// Of "cpu", or of CUDA device `index`. A warm call is a load. Throws what refuse() throws.
hstu_context* context_of(const char* op, bool cuda, int32_t index);

/// torch's current stream of a CUDA device.
hstu_stream current_stream(const char* op, int32_t index);

}  // namespace hstujit_torch
