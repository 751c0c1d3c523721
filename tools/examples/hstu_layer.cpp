// One HSTU layer through the C API, in C++20: layer norm -> UVQK projection with SiLU on u -> attention -> norm * u ->
// output projection + residual. Usage: hstu_layer_cpp [cpu|cuda]. hstu_layer.c is the same program in C99 and prints
// the same numbers.
#include <hstujit/hstujit.h>

#include <cuda_runtime_api.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

// The layer: u and v have hidden_dim columns a head, q and k attn_dim.
constexpr int64_t kEmbedding = 64, kHeads = 2, kAttnDim = 32, kHiddenDim = 64;
constexpr int64_t kValues = kHeads * kHiddenDim, kQueries = kHeads * kAttnDim;
// First columns of v, q and k in the projection's output; u begins at 0.
constexpr int64_t kV = kValues, kQ = 2 * kValues, kK = kQ + kQueries, kUvqk = kK + kQueries;
constexpr int64_t kGated = 3 * kValues;  // [u | attn | u * norm(attn)]

// Three users: their rows lie one behind another. The last num_targets rows of each are candidates to be scored.
constexpr int64_t kBatch = 3, kRows = 150, kLongest = 90;
constexpr std::array<int64_t, kBatch + 1> kOffsets = {0, 52, 60, kRows};
constexpr std::array<int32_t, kBatch> kTargets = {4, 8, 10};

void check(hstu_status status, const char* doing) {
  if (status != HSTU_OK) throw std::runtime_error(std::string(doing) + ": " + hstu_last_error());
}
void check(cudaError_t result, const char* doing) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(doing) + ": " + cudaGetErrorString(result));
}

// ---- Memory of the device: the heap for "cpu", the CUDA runtime for "cuda".

class Device {
 public:
  explicit Device(bool gpu) : gpu_(gpu) {}

  struct Release {
    bool gpu;
    void operator()(void* data) const { gpu ? static_cast<void>(cudaFree(data)) : std::free(data); }
  };
  using Buffer = std::unique_ptr<void, Release>;

  Buffer allocate(size_t bytes) const {
    void* data = nullptr;
    if (gpu_)
      check(cudaMalloc(&data, bytes), "allocating");
    else if (!(data = std::malloc(bytes)))
      throw std::bad_alloc();
    return Buffer(data, Release{gpu_});
  }
  Buffer upload(const void* host, size_t bytes) const {
    Buffer buffer = allocate(bytes);
    copy(buffer.get(), host, bytes, cudaMemcpyHostToDevice);
    return buffer;
  }
  void download(void* host, const Buffer& buffer, size_t bytes) const {
    copy(host, buffer.get(), bytes, cudaMemcpyDeviceToHost);  // waits for the stream, too
  }

 private:
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) const {
    if (gpu_)
      check(cudaMemcpy(to, from, bytes, kind), "copying");
    else
      std::memcpy(to, from, bytes);
  }

  bool gpu_;
};
using Buffer = Device::Buffer;

// ---- bf16 values: the upper half of a float.

uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float from_bf16(uint16_t half) { return std::bit_cast<float>(static_cast<uint32_t>(half) << 16); }

// Buffers of numbers around `mean`, from a generator both examples share.
class Values {
 public:
  explicit Values(const Device& device) : device_(device) {}

  Buffer random(int64_t count, float mean, float width) {
    std::vector<uint16_t> host(static_cast<size_t>(count));
    for (uint16_t& value : host) {
      state_ = state_ * 1664525u + 1013904223u;
      value = to_bf16(mean + width * (static_cast<float>(state_ >> 8) / 8388608.0f - 1.0f));
    }
    return device_.upload(host.data(), host.size() * sizeof host[0]);
  }
  Buffer empty(int64_t count) const { return device_.allocate(static_cast<size_t>(count) * sizeof(uint16_t)); }

 private:
  const Device& device_;
  uint32_t state_ = 1;
};

// ---- The layer.

hstu_tensor vector(const Buffer& data, int64_t n) { return hstu_vector(data.get(), HSTU_DTYPE_BF16, n); }
hstu_tensor matrix(const Buffer& data, int64_t rows, int64_t columns) {
  return hstu_matrix(data.get(), HSTU_DTYPE_BF16, rows, columns);
}
template <class Args>
Args sized() {
  Args args{};
  args.struct_size = sizeof args;
  return args;
}

class Layer {
 public:
  Layer(const Device& device, Values& values)
      : norm_weight_(values.random(kEmbedding, 1.0f, 0.1f)),
        norm_bias_(values.random(kEmbedding, 0.0f, 0.1f)),
        uvqk_weight_(values.random(kEmbedding * kUvqk, 0.0f, 0.2f)),
        uvqk_bias_(values.random(kUvqk, 0.0f, 0.1f)),
        output_norm_weight_(values.random(kValues, 1.0f, 0.1f)),
        output_norm_bias_(values.random(kValues, 0.0f, 0.1f)),
        output_weight_(values.random(kGated * kEmbedding, 0.0f, 0.1f)),
        normed_(values.empty(kRows * kEmbedding)),
        uvqk_(values.empty(kRows * kUvqk)),
        attn_(values.empty(kRows * kValues)),
        gated_(values.empty(kRows * kGated)),
        offsets_(device.upload(kOffsets.data(), sizeof kOffsets)),
        targets_(device.upload(kTargets.data(), sizeof kTargets)) {}

  /// out[kRows, kEmbedding] = layer(x[kRows, kEmbedding]). Queues five operators on the stream.
  void run(hstu_context* context, const Buffer& x, const Buffer& out, hstu_stream stream) const {
    auto norm = sized<hstu_layer_norm_args>();
    norm.x = matrix(x, kRows, kEmbedding);
    norm.weight = vector(norm_weight_, kEmbedding);
    norm.bias = vector(norm_bias_, kEmbedding);
    norm.out = matrix(normed_, kRows, kEmbedding);
    norm.eps = 1e-6f;
    check(hstu_layer_norm(context, &norm, stream), "layer norm");

    auto projection = sized<hstu_addmm_args>();
    projection.x = norm.out;
    projection.w = matrix(uvqk_weight_, kEmbedding, kUvqk);
    projection.bias = vector(uvqk_bias_, kUvqk);
    projection.out = matrix(uvqk_, kRows, kUvqk);
    projection.activation = HSTU_ACTIVATION_SILU;  // on u alone
    projection.activation_columns = kV;
    check(hstu_addmm(context, &projection, stream), "UVQK projection");

    auto attention = sized<hstu_attention_args>();
    attention.q = uvqk_heads(kQ, kAttnDim);
    attention.k = uvqk_heads(kK, kAttnDim);
    attention.v = uvqk_heads(kV, kHiddenDim);
    attention.out = hstu_heads(attn_.get(), HSTU_DTYPE_BF16, kRows, kHeads, kHiddenDim);
    attention.seq_offsets = hstu_vector(offsets_.get(), HSTU_DTYPE_I64, kBatch + 1);
    attention.mask.num_targets = hstu_vector(targets_.get(), HSTU_DTYPE_I32, kBatch);
    attention.max_seq_len = kLongest;
    check(hstu_attention(context, &attention, stream), "attention");

    auto gate = sized<hstu_norm_mul_args>();
    gate.attn = matrix(attn_, kRows, kValues);
    gate.u = matrix(uvqk_, kRows, kValues);  // its first columns
    gate.u.stride[0] = kUvqk;
    gate.weight = vector(output_norm_weight_, kValues);
    gate.bias = vector(output_norm_bias_, kValues);
    gate.out = matrix(gated_, kRows, kGated);
    gate.eps = 1e-6f;
    gate.concat_u = gate.concat_x = 1;
    check(hstu_norm_mul(context, &gate, stream), "norm * u");

    auto output = sized<hstu_addmm_args>();
    output.x = gate.out;
    output.w = matrix(output_weight_, kGated, kEmbedding);
    output.residual = matrix(x, kRows, kEmbedding);
    output.out = matrix(out, kRows, kEmbedding);
    check(hstu_addmm(context, &output, stream), "output projection");
  }

 private:
  /// Columns from `first` on of the projection's output as [rows, heads, dim]: a view, nothing is copied.
  hstu_tensor uvqk_heads(int64_t first, int64_t dim) const {
    const auto* data = static_cast<const uint16_t*>(uvqk_.get()) + first;
    hstu_tensor t = hstu_heads(data, HSTU_DTYPE_BF16, kRows, kHeads, dim);
    t.stride[0] = kUvqk;
    return t;
  }

  Buffer norm_weight_, norm_bias_, uvqk_weight_, uvqk_bias_, output_norm_weight_, output_norm_bias_, output_weight_;
  Buffer normed_, uvqk_, attn_, gated_;  // intermediate results, [kRows, ...]
  Buffer offsets_, targets_;
};

void print_checksum(const char* name, const Device& device, const Buffer& out) {
  std::vector<uint16_t> host(kRows * kEmbedding);
  device.download(host.data(), out, host.size() * sizeof host[0]);
  double sum = 0, weighted = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    sum += from_bf16(host[i]);
    weighted += from_bf16(host[i]) * (1.0 + static_cast<double>(i % 7));
  }
  std::printf("one HSTU layer on %s, %d rows x %d: checksum %.6f %.6f\n", name, static_cast<int>(kRows),
              static_cast<int>(kEmbedding), sum, weighted);
}

void run(const char* name) {
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = name;
  hstu_context* created = nullptr;
  check(hstu_context_create(&created, &options), "creating a context");
  const std::unique_ptr<hstu_context, decltype(&hstu_context_destroy)> context(created, hstu_context_destroy);

  const Device device(std::string_view(name) == "cuda");
  Values values(device);
  const Buffer x = values.random(kRows * kEmbedding, 0.0f, 1.0f), out = values.empty(kRows * kEmbedding);
  const Layer layer(device, values);
  layer.run(context.get(), x, out, nullptr);
  print_checksum(name, device, out);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view device = argc > 1 ? argv[1] : "cpu";
  if (argc > 2 || (device != "cpu" && device != "cuda")) {
    std::fprintf(stderr, "usage: hstu_layer [cpu|cuda]\n");
    return 2;
  }
  try {
    run(device.data());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hstu_layer: %s\n", error.what());
    return 1;
  }
}
