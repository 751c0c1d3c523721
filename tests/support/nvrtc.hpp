// For tests that compile: skip them, visibly, where no NVRTC is installed.
#pragma once

#include "cuda/nvrtc.hpp"
#include "support/env.hpp"
#include "support/error.hpp"

#include <gtest/gtest.h>

namespace hstujit::test {

inline bool has_nvrtc() {
  try {
    nvrtc_at(Environment::read().libnvrtc);
    return true;
  } catch (const Error&) { return false; }
}

}  // namespace hstujit::test

#define HSTU_NEEDS_NVRTC() \
  if (!hstujit::test::has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed"
