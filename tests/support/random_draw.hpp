// Random problems, at least 2000 of at least 100 kernels for each room: what shapes code is drawn once a kernel, types
// in every mixture and widths from 1 to 5000, and lengths, strides, slack and elements anew for each of its problems.
// Under memcheck each tensor has an allocation of its own that ends with its last element (tools/sanitize_gpu.sh).
#pragma once

#include "support/choices.hpp"
#include "support/device_call.hpp"

#include <cstring>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit::test {

enum class Contents {
  poison,  ///< of outputs
  normal,  ///< bell-shaped
  bits,    ///< any
};

/// One of a kernel's problems: its arguments are made of tensors that this makes, and checked by it.
class Draw {
 public:
  enum class Purpose {
    key,  ///< which problem it is: tensors stay poison, and nothing is called
    run,
  };
  struct Which {
    Op op;
    uint64_t kernel = 0;   ///< number of the kernel among the operator's
    uint64_t problem = 0;  ///< number of the problem among the kernel's
    uint64_t seed = 0;     ///< other problems of the same kernels: $HSTUJIT_TEST_SEED
  };
  Draw(const Which& which, Purpose purpose);

  Choices kernel;   ///< of what shapes code
  Choices problem;  ///< of all else
  HostMemory memory;
  bool runs() const { return purpose_ == Purpose::run; }

  /// One of the values, each in its turn from kernel to kernel, and all pairs with those of other calls: for what must
  /// meet in every mixture.
  template <class T>
  T each(std::initializer_list<T> values) {
    const auto count = static_cast<uint64_t>(values.size());
    const uint64_t turn = turns_ % count;
    turns_ /= count;
    return values.begin()[turn];
  }
  hstu_dtype each_floating() { return each({HSTU_DTYPE_BF16, HSTU_DTYPE_F16, HSTU_DTYPE_F32}); }

  /// Columns of a row, from 1 to 5000: those of models, and any other.
  int64_t width();
  /// Rows of so many columns, few enough for a reference.
  int64_t rows(int64_t columns, int64_t most = 70);
  /// A number of (half, all] of a power of two that shapes code, up to `most`.
  int64_t in_octave(int64_t most);

  /// How a tensor of such rows lies: aligned to a number of bytes that the kernel has, gaps and shift by multiples.
  Layout layout(hstu_dtype dtype, int64_t columns);
  hstu_tensor vector(hstu_dtype dtype, int64_t count, Contents contents = Contents::normal, double mean = 0,
                     double deviation = 1);
  /// The same with its elements apart, seldom.
  hstu_tensor strided_vector(hstu_dtype dtype, int64_t count, double mean = 0);
  hstu_tensor matrix(hstu_dtype dtype, int64_t rows, int64_t columns, Contents contents = Contents::normal,
                     double mean = 0, double deviation = 1);
  /// Rows, columns or neither contiguous, or all rows in one place.
  hstu_tensor ordered_matrix(hstu_dtype dtype, int64_t rows, int64_t columns, double deviation = 1);
  /// [count, rows, columns], maybe with rows between the matrices.
  hstu_tensor matrices(hstu_dtype dtype, int64_t count, int64_t rows, int64_t columns,
                       Contents contents = Contents::normal);
  hstu_tensor integers(hstu_dtype dtype, const std::vector<int64_t>& values);
  hstu_tensor integers(const std::vector<int64_t>& values) { return integers(kernel.integer(), values); }
  hstu_tensor counts(int64_t count, int64_t most);

  /// Lengths of some sequences, some of them empty.
  std::vector<int64_t> lengths(int64_t most_sequences, int64_t longest, int64_t least = 0);

  /// Compares the outputs of a call with the oracle's, by every family that covers it, and with $HSTUJIT_TEST_CONFIG by
  /// one more configuration of each.
  template <class Args>
  void correct(Args args, std::vector<Expected<Args>> outputs) {
    if (!begin(args)) return;
    if (test_device()->compile_only) return compile(args);
    const testing::ScopedTrace trace(__FILE__, __LINE__, description_);
    for (Expected<Args>& expected : outputs) allow_for_few(args.*expected.output, expected.tolerance);
    expect_correct(memory, args, outputs);
    compared_ = true;
    const std::vector<Candidate> drawn = drawn_candidates();
    if (drawn.empty()) return;
    const std::vector<Exact> exact = exact_results(args, outputs);
    for (const Candidate& candidate : drawn) {
      SCOPED_TRACE(name_of_candidate(candidate));
      DeviceCall call(memory, op_of<Args>(), &args, launcher<Args>(candidate));
      expect_correct(call, args, outputs, exact);
    }
  }
  /// Of results of terms of order one, in parts of which all but the first may be absent. Where a short row's terms
  /// cancel, its size does not show what they were: elements may be wrong by the rounding of f32 sums of these.
  template <class Args>
  void correct(const Args& args, std::initializer_list<hstu_tensor Args::*> parts, const Tolerance& tolerance) {
    std::vector<Expected<Args>> outputs;
    for (const auto part : parts)
      if (present(args.*part)) outputs.push_back({part, tolerance, Exact(elements_of(args.*part), 3e-6)});
    correct(args, outputs);
  }
  /// Outputs have the bits of the reference's, by the same families and configurations.
  template <class Args>
  void same_bits(Args args, const std::vector<hstu_tensor>& outputs) {
    if (!begin(args)) return;
    if (test_device()->compile_only) return compile(args);
    const testing::ScopedTrace trace(__FILE__, __LINE__, description_);
    std::vector<Candidate> others = drawn_candidates();
    if (!test_device()->cpu)
      for (const Family* family : other_families(key_, test_device()->facts()))
        others.push_back({family, family->default_config(key_, test_device()->facts())});
    std::deque<DeviceCall> calls;  // before the reference changes the memory
    for (const Candidate& other : others) {
      calls.emplace_back(memory, op_of<Args>(), &args, launcher<Args>(other));
      EXPECT_TRUE(calls.back().wrote_only(outputs)) << name_of_candidate(other);
    }
    expect_same_bits(memory, args, outputs);
    compared_ = true;
    for (size_t i = 0; i < calls.size(); ++i)
      for (const hstu_tensor& out : outputs)
        EXPECT_EQ(std::memcmp(calls[i].after(out).data, out.data, static_cast<size_t>(extent_bytes(out))), 0)
            << name_of_candidate(others[i]);
  }

  /// The problem that was drawn.
  const Problem& key() const { return key_; }
  /// Whether results were compared: not where the device does not take the problem, or compiles only.
  bool compared() const { return compared_; }

 private:
  /// Whether the call is to be made.
  template <class Args>
  bool begin(Args& args) {
    args.struct_size = sizeof args;
    Args prepared = args;
    key_ = prepare(prepared);
    if (purpose_ == Purpose::key) return false;
    describe(op_of<Args>(), &args);
    return device_covers(key_);
  }
  static size_t elements_of(const hstu_tensor& t);
  /// Each of few elements says as much as all of them, and the largest of a short row little of what it is made of.
  static void allow_for_few(const hstu_tensor& t, Tolerance& tolerance);
  /// A configuration that is not the one that the library takes.
  struct Candidate {
    const Family* family;
    Config config;
  };
  static std::string name_of_candidate(const Candidate& candidate);
  /// One of each family that covers the problem, the same one for all problems of a kernel; none without
  /// $HSTUJIT_TEST_CONFIG, by whose number it is drawn.
  std::vector<Candidate> drawn_candidates() const;
  template <class Args>
  Launcher launcher(const Candidate& c) const {
    const DeviceFacts& facts = test_device()->facts();
    const auto loaded_kernel =
        loaded(compiled(*c.family, key_, c.config, facts), c.family->resources(key_, c.config).smem_bytes);
    return launcher_of<Args>(*c.family, c.config, loaded_kernel, facts);
  }
  /// The kernels that the call takes.
  template <class Args>
  void compile(const Args& args) {
    const DeviceCall call(memory, op_of<Args>(), &args);
    EXPECT_EQ(call.status(), HSTU_OK) << description_ << call.error();
    const DeviceFacts& facts = test_device()->facts();
    for (const Family* other : other_families(key_, facts))
      compiled(*other, key_, other->default_config(key_, facts), facts);
    for (const Candidate& drawn : drawn_candidates()) compiled(*drawn.family, key_, drawn.config, facts);
  }
  void describe(Op op, const void* args);
  /// Fills it if it is to be run.
  hstu_tensor filled(const hstu_tensor& t, Contents contents, double mean, double deviation);

  const Which which_;
  const Purpose purpose_;
  const bool aligned_;  ///< all tensors to 16 bytes: one that is not decides for all
  uint64_t turns_;
  Problem key_;
  std::string description_;
  bool compared_ = false;
};

/// An operator's draw, and the rooms' operators: random_norm.cpp and its like.
struct RandomOperator {
  Op op;
  void (*draw)(Draw& d);
};
std::span<const RandomOperator> random_attention();
std::span<const RandomOperator> random_dense();
std::span<const RandomOperator> random_fp8();
std::span<const RandomOperator> random_jagged();
std::span<const RandomOperator> random_norm();
std::span<const RandomOperator> random_position();

/// A kernel of a room.
struct RandomKernel {
  std::string_view room;
  RandomOperator of;
  uint64_t number;  ///< Draw::Which::kernel
};
/// "layer_norm_17".
std::string name_of_kernel(const RandomKernel& kernel);
void PrintTo(const RandomKernel& kernel, std::ostream* out);
/// "attention", "dense", "fp8", "jagged", "norm", "position".
std::span<const std::string_view> random_rooms();
/// At least 100 of a room, no two with the same facts that shape code, the same ones whatever the device.
std::vector<RandomKernel> random_kernels(std::string_view room);

/// Compares $HSTUJIT_TEST_PROBLEMS problems of the kernel, by default 20, with the oracle; those of $HSTUJIT_TEST_SEED,
/// by default 0. Stops at the first that fails.
void expect_random_problems(const RandomKernel& kernel);

/// What was compared, added to $HSTUJIT_TEST_COUNTS, a file: {"norm": {"problems": 460, "kernels": 23}, ...}. Shards
/// write files of their own, whose counts add up; so do problems of several seeds.
void count_random_problems(std::string_view room, int problems);

}  // namespace hstujit::test
