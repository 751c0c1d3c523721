// Launches that move to other buffers, with the tensor maps of the driver that is there.
#include "support/gpu.hpp"
#include "support/moving.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

TEST(MovedLaunch, IsWhatWouldBeBoundThere) {
  HSTU_NEEDS_GPU();
  test::expect_launches_to_move(test::gpu()->facts);
}

}  // namespace
}  // namespace hstujit
