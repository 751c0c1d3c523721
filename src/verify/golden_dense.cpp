// Golden cases of dense products.
#include "verify/golden_cases.hpp"

namespace hstujit::verify {
namespace {

void addmm(GoldenCall& call) {
  hstu_addmm_args args{};
  args.x = call.input("mat1");
  args.w = call.input("mat2");
  args.y = call.input("input");
  args.z = call.output({args.x.shape[0], args.w.shape[1]});
  call.run(args);
  call.compare("out", args.z);
}

constexpr GoldenCase kCases[] = {{"addmm", addmm}};

}  // namespace

std::span<const GoldenCase> dense_cases() { return kCases; }

}  // namespace hstujit::verify
