/* One HSTU layer through the C API, in C99: layer norm -> UVQK projection with SiLU on u -> attention -> norm * u ->
 * output projection + residual. Usage: hstu_layer_c [cpu|cuda]. hstu_layer.cpp is the same program in C++ and prints
 * the same numbers. */
#include <hstujit/hstujit.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layer: u and v have hidden_dim columns a head, q and k attn_dim. */
enum { kEmbedding = 64, kHeads = 2, kAttnDim = 32, kHiddenDim = 64 };
enum {
  kU = 0, /* first columns of u, v, q, k in the projection's output */
  kV = kU + kHeads * kHiddenDim,
  kQ = kV + kHeads * kHiddenDim,
  kK = kQ + kHeads * kAttnDim,
  kUvqk = kK + kHeads * kAttnDim,
  kValues = kHeads * kHiddenDim,
  kGated = 3 * kValues /* [u | attn | u * norm(attn)] */
};

/* Three users: their rows lie one behind another. The last num_targets rows of each are candidates to be scored. */
enum { kBatch = 3, kRows = 150, kLongest = 90 };
static const int64_t kOffsets[kBatch + 1] = {0, 52, 60, kRows};
static const int32_t kTargets[kBatch] = {4, 8, 10};

/* ---- Memory of the device: malloc for "cpu", the CUDA runtime for "cuda". */

static int on_gpu;

static void must(int fine, const char* doing, const char* why) {
  if (fine) return;
  fprintf(stderr, "hstu_layer: %s: %s\n", doing, why);
  exit(1);
}

static void must_cuda(cudaError_t result, const char* doing) {
  must(result == cudaSuccess, doing, cudaGetErrorString(result));
}

static void must_hstu(hstu_status status, const char* doing) { must(status == HSTU_OK, doing, hstu_last_error()); }

static void* allocate(size_t bytes) {
  void* data = NULL;
  if (on_gpu)
    must_cuda(cudaMalloc(&data, bytes), "allocating");
  else
    must((data = malloc(bytes)) != NULL, "allocating", "out of memory");
  return data;
}

static void release(void* data) {
  if (on_gpu)
    must_cuda(cudaFree(data), "freeing");
  else
    free(data);
}

static void* upload(const void* host, size_t bytes) {
  void* data = allocate(bytes);
  if (on_gpu)
    must_cuda(cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice), "copying to the device");
  else
    memcpy(data, host, bytes);
  return data;
}

static void download(void* host, const void* data, size_t bytes) {
  if (on_gpu)
    must_cuda(cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost), "copying from the device"); /* waits, too */
  else
    memcpy(host, data, bytes);
}

/* ---- bf16 values: the upper half of a float. */

static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* A device buffer of `count` numbers around `mean`, from a generator both examples share. */
static void* random_bf16(size_t count, float mean, float width) {
  static uint32_t state = 1;
  uint16_t* host = malloc(count * sizeof *host);
  must(host != NULL, "allocating", "out of memory");
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    host[i] = to_bf16(mean + width * ((float)(state >> 8) / 8388608.0f - 1.0f));
  }
  void* data = upload(host, count * sizeof *host);
  free(host);
  return data;
}

static void* empty_bf16(size_t count) { return allocate(count * sizeof(uint16_t)); }

/* ---- The layer. */

/* What the layer owns besides its input and output. */
typedef struct layer_buffers {
  void *norm_weight, *norm_bias, *uvqk_weight, *uvqk_bias, *output_norm_weight, *output_norm_bias, *output_weight;
  void *normed, *uvqk, *attn, *gated; /* intermediate results, [kRows, ...] */
  void *offsets, *targets;
} layer_buffers;

static layer_buffers make_layer(void) {
  layer_buffers layer;
  layer.norm_weight = random_bf16(kEmbedding, 1.0f, 0.1f);
  layer.norm_bias = random_bf16(kEmbedding, 0.0f, 0.1f);
  layer.uvqk_weight = random_bf16(kEmbedding * kUvqk, 0.0f, 0.2f);
  layer.uvqk_bias = random_bf16(kUvqk, 0.0f, 0.1f);
  layer.output_norm_weight = random_bf16(kValues, 1.0f, 0.1f);
  layer.output_norm_bias = random_bf16(kValues, 0.0f, 0.1f);
  layer.output_weight = random_bf16(kGated * kEmbedding, 0.0f, 0.1f);
  layer.normed = empty_bf16(kRows * kEmbedding);
  layer.uvqk = empty_bf16(kRows * kUvqk);
  layer.attn = empty_bf16(kRows * kValues);
  layer.gated = empty_bf16(kRows * kGated);
  layer.offsets = upload(kOffsets, sizeof kOffsets);
  layer.targets = upload(kTargets, sizeof kTargets);
  return layer;
}

static void free_layer(const layer_buffers* layer) {
  void* const all[] = {layer->norm_weight,
                       layer->norm_bias,
                       layer->uvqk_weight,
                       layer->uvqk_bias,
                       layer->output_norm_weight,
                       layer->output_norm_bias,
                       layer->output_weight,
                       layer->normed,
                       layer->uvqk,
                       layer->attn,
                       layer->gated,
                       layer->offsets,
                       layer->targets};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) release(all[i]);
}

static hstu_tensor vector(const void* data, int64_t n) { return hstu_vector(data, HSTU_DTYPE_BF16, n); }
static hstu_tensor matrix(const void* data, int64_t columns) {
  return hstu_matrix(data, HSTU_DTYPE_BF16, kRows, columns);
}

/* Columns [first, first + heads * dim) of the projection's output as [rows, heads, dim]: a view, nothing is copied. */
static hstu_tensor uvqk_heads(const layer_buffers* layer, int64_t first, int64_t dim) {
  hstu_tensor t = hstu_heads((const uint16_t*)layer->uvqk + first, HSTU_DTYPE_BF16, kRows, kHeads, dim);
  t.stride[0] = kUvqk;
  return t;
}

/* out[kRows, kEmbedding] = layer(x[kRows, kEmbedding]). Queues five operators on the stream. */
static void run_layer(hstu_context* context, const layer_buffers* layer, const void* x, void* out, hstu_stream stream) {
  hstu_layer_norm_args norm = {.struct_size = sizeof norm};
  norm.x = matrix(x, kEmbedding);
  norm.weight = vector(layer->norm_weight, kEmbedding);
  norm.bias = vector(layer->norm_bias, kEmbedding);
  norm.out = matrix(layer->normed, kEmbedding);
  norm.eps = 1e-6f;
  must_hstu(hstu_layer_norm(context, &norm, stream), "layer norm");

  hstu_addmm_args projection = {.struct_size = sizeof projection};
  projection.x = norm.out;
  projection.w = hstu_matrix(layer->uvqk_weight, HSTU_DTYPE_BF16, kEmbedding, kUvqk);
  projection.bias = vector(layer->uvqk_bias, kUvqk);
  projection.out = matrix(layer->uvqk, kUvqk);
  projection.activation = HSTU_ACTIVATION_SILU; /* on u alone */
  projection.activation_columns = kV;
  must_hstu(hstu_addmm(context, &projection, stream), "UVQK projection");

  hstu_attention_args attention = {.struct_size = sizeof attention};
  attention.q = uvqk_heads(layer, kQ, kAttnDim);
  attention.k = uvqk_heads(layer, kK, kAttnDim);
  attention.v = uvqk_heads(layer, kV, kHiddenDim);
  attention.out = hstu_heads(layer->attn, HSTU_DTYPE_BF16, kRows, kHeads, kHiddenDim);
  attention.seq_offsets = hstu_vector(layer->offsets, HSTU_DTYPE_I64, kBatch + 1);
  attention.mask.num_targets = hstu_vector(layer->targets, HSTU_DTYPE_I32, kBatch);
  attention.max_seq_len = kLongest;
  must_hstu(hstu_attention(context, &attention, stream), "attention");

  hstu_norm_mul_args gate = {.struct_size = sizeof gate};
  gate.attn = matrix(layer->attn, kValues);
  gate.u = matrix(layer->uvqk, kValues); /* columns [kU, kV) */
  gate.u.stride[0] = kUvqk;
  gate.weight = vector(layer->output_norm_weight, kValues);
  gate.bias = vector(layer->output_norm_bias, kValues);
  gate.out = matrix(layer->gated, kGated);
  gate.eps = 1e-6f;
  gate.concat_u = gate.concat_x = 1;
  must_hstu(hstu_norm_mul(context, &gate, stream), "norm * u");

  hstu_addmm_args output = {.struct_size = sizeof output};
  output.x = gate.out;
  output.w = hstu_matrix(layer->output_weight, HSTU_DTYPE_BF16, kGated, kEmbedding);
  output.residual = matrix(x, kEmbedding);
  output.out = matrix(out, kEmbedding);
  must_hstu(hstu_addmm(context, &output, stream), "output projection");
}

static void print_checksum(const char* device, const void* out) {
  uint16_t host[kRows * kEmbedding];
  download(host, out, sizeof host);
  double sum = 0, weighted = 0;
  for (int i = 0; i < kRows * kEmbedding; ++i) {
    sum += from_bf16(host[i]);
    weighted += from_bf16(host[i]) * (1.0 + i % 7);
  }
  printf("one HSTU layer on %s, %d rows x %d: checksum %.6f %.6f\n", device, kRows, kEmbedding, sum, weighted);
}

int main(int argc, char** argv) {
  const char* device = argc > 1 ? argv[1] : "cpu";
  if (argc > 2 || (strcmp(device, "cpu") != 0 && strcmp(device, "cuda") != 0)) {
    fprintf(stderr, "usage: hstu_layer [cpu|cuda]\n");
    return 2;
  }
  on_gpu = strcmp(device, "cuda") == 0;

  hstu_context_options options = {.struct_size = sizeof options};
  options.device = device;
  hstu_context* context = NULL;
  must_hstu(hstu_context_create(&context, &options), "creating a context");

  void* x = random_bf16(kRows * kEmbedding, 0.0f, 1.0f);
  void* out = empty_bf16(kRows * kEmbedding);
  const layer_buffers layer = make_layer();
  run_layer(context, &layer, x, out, NULL);
  print_checksum(device, out);

  free_layer(&layer);
  release(out);
  release(x);
  hstu_context_destroy(context);
  return 0;
}
