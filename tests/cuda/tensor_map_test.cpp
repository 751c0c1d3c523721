// Tensor maps on a fake driver: what is asked of the driver, and what a thread remembers.
#include "cuda/tensor_map.hpp"

#include "cuda/driver.hpp"
#include "launch/module.hpp"
#include "support/error.hpp"
#include "support/use_fake_driver.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace hstujit {
namespace {

alignas(16) char memory[4096];

TensorMapSpec matrix(const void* base, uint64_t columns, uint64_t rows) {
  TensorMapSpec spec;
  spec.base = base;
  spec.dtype = HSTU_DTYPE_BF16;
  spec.rank = 2;
  spec.extent[0] = columns, spec.extent[1] = rows;
  spec.stride[0] = columns * 2;
  spec.box[0] = 64, spec.box[1] = 128;
  return spec;
}

CUcontext context() {
  CUcontext primary = nullptr;
  driver().cuDevicePrimaryCtxRetain(&primary, 0);
  return primary;
}

TEST(TensorMap, IsEncodedOnceAThreadAndShape) {
  const fake_driver_controls& fake = test::use_fake_driver();
  fake.reset();
  const CurrentContext current(driver(), context());
  hstu::TensorMap first, again, other;
  encode_tensor_map(matrix(memory, 512, 100), first);
  encode_tensor_map(matrix(memory, 512, 100), again);
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 1);
  EXPECT_EQ(first.words[0], reinterpret_cast<uintptr_t>(memory));
  EXPECT_EQ(first.words[2], 100u);
  EXPECT_EQ(again.words[2], 100u);

  encode_tensor_map(matrix(memory, 512, 101), other);
  EXPECT_EQ(other.words[2], 101u);
  encode_tensor_map(matrix(memory + 16, 512, 100), other);
  EXPECT_EQ(other.words[0], reinterpret_cast<uintptr_t>(memory + 16));
  EXPECT_EQ(other.words[2], 100u);
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 2);
  EXPECT_EQ(fake.calls("cuTensorMapReplaceAddress"), 2);

  std::thread([] {
    const CurrentContext of_thread(driver(), context());
    hstu::TensorMap map;
    encode_tensor_map(matrix(memory, 512, 100), map);
  }).join();
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 3);
}

TEST(TensorMap, SaysWhatTheDriverRefused) {
  test::use_fake_driver().reset();
  const CurrentContext current(driver(), context());
  hstu::TensorMap map;
  try {
    encode_tensor_map(matrix(memory, 512, 100), map);
    encode_tensor_map(matrix(memory + 2, 512, 100), map);
    FAIL() << "a base off 16 bytes was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_INTERNAL);
    EXPECT_NE(std::string(error.what()).find("refused a tensor map"), std::string::npos) << error.what();
  }
}

TEST(TensorMap, TellsAThreadWithoutAContext) {
  test::use_fake_driver().reset();
  hstu::TensorMap map;
  EXPECT_THROW(encode_tensor_map(matrix(memory, 512, 77), map), NoCurrentContext);
}

TEST(TensorMap, OfAKnownShapeIsMovedToOtherAddresses) {
  const fake_driver_controls& fake = test::use_fake_driver();
  fake.reset();
  const CurrentContext current(driver(), context());
  std::thread([] {
    const CurrentContext of_thread(driver(), context());
    hstu::TensorMap map;
    for (int round = 0; round < 3; ++round)
      for (uintptr_t i = 0; i < 40; ++i)
        encode_tensor_map(matrix(reinterpret_cast<void*>((i + 1) << 20), 512, 100), map);
  }).join();
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 1);
  EXPECT_EQ(fake.calls("cuTensorMapReplaceAddress"), 3 * 40 - 1);
}

}  // namespace
}  // namespace hstujit
