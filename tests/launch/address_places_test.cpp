// Launches that move to other buffers by a few words written.
#include "launch/address_places.hpp"

#include "launch/module.hpp"
#include "operators/sample_args.hpp"
#include "support/error.hpp"
#include "support/moving.hpp"
#include "support/use_fake_driver.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace hstujit::test {
namespace {

struct Params {
  const void* x;
  uint64_t extra;
};

/// Places of a layer norm whose parameters are filled like this.
std::optional<AddressPlaces> places_of(const std::function<void(const hstu_layer_norm_args&, Launch&)>& fill) {
  const hstu_layer_norm_args args = sample_layer_norm();
  return AddressPlaces::find(
      MovableArgs(operator_of(Op::layer_norm), &args),
      [&](const void* prepared, Launch& launch) { fill(*static_cast<const hstu_layer_norm_args*>(prepared), launch); });
}

uint64_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

TEST(AddressPlaces, AreFoundInEveryFamilyOfTheDevice) {
  use_fake_driver();
  CUcontext context = nullptr;
  driver().check(driver().cuDevicePrimaryCtxRetain(&context, 0), "retaining");
  const CurrentContext current(driver(), context);
  expect_launches_to_move(*facts_of_target("sm_90a"));
  expect_launches_to_move(*facts_of_target("sm_80"));
}

TEST(AddressPlaces, ConstantsBeyondAnAddressStay) {
  const auto places = places_of([](const auto& a, Launch& launch) {
    launch.emplace<Params>() = {static_cast<const char*>(a.x.data) + 40, number(a.out.data) - 8};
  });
  ASSERT_TRUE(places);
  hstu_layer_norm_args args = sample_layer_norm();
  args.x.data = slot(9), args.out.data = slot(10);
  Launch launch{};
  places->write(&args, launch);
  Params params;
  std::memcpy(&params, launch.params, sizeof params);
  EXPECT_EQ(number(params.x), number(slot(9)) + 40);
  EXPECT_EQ(params.extra, number(slot(10)) - 8);
}

TEST(AddressPlaces, AreNotTakenWhereMoreHangsOnAnAddress) {
  const auto filled = [](auto extra) {
    return places_of([=](const auto& a, Launch& launch) { launch.emplace<Params>() = {a.x.data, extra(a, launch)}; });
  };
  EXPECT_TRUE(filled([](const auto&, Launch&) { return uint64_t{3}; }));
  EXPECT_FALSE(filled([](const auto& a, Launch&) { return number(a.x.data) >> 4; }));
  EXPECT_FALSE(filled([](const auto& a, Launch&) { return number(a.x.data) - number(a.out.data); }));
  EXPECT_FALSE(filled([](const auto& a, Launch&) { return number(a.x.data) >> 45 & 1; })) << "one bit";
  EXPECT_FALSE(filled([](const auto& a, Launch& launch) {
    launch.grid[1] = 1 + static_cast<uint32_t>(number(a.out.data) >> 9 & 1);
    return uint64_t{};
  })) << "the grid";
  EXPECT_FALSE(filled([first = slot(0)](const auto& a, Launch&) -> uint64_t {
    if (a.x.data != first) fail(HSTU_ERROR_INTERNAL, "no such address");
    return 0;
  }));
}

}  // namespace
}  // namespace hstujit::test
