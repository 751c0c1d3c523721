#include "hstu_tune/cublaslt.hpp"

#include "support/error.hpp"

#include <cublasLt.h>
#include <dlfcn.h>

namespace hstujit::tool {
namespace {

// X(member)
#define HSTU_LT_FUNCTIONS(X)              \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)          \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmul)

struct Library {
#define HSTU_DECLARE(function) decltype(&::function) function = nullptr;
  HSTU_LT_FUNCTIONS(HSTU_DECLARE)
#undef HSTU_DECLARE
  bool complete = false;
};

/// Opened once and kept for the life of the process.
const Library& library() {
  static const Library opened = [] {
    Library found;
    void* handle = nullptr;
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"})
      if ((handle = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
    if (!handle) return found;
    found.complete = true;
#define HSTU_FIND(function)                                                           \
  found.function = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function)); \
  found.complete = found.complete && found.function;
    HSTU_LT_FUNCTIONS(HSTU_FIND)
#undef HSTU_FIND
    return found;
  }();
  return opened;
}

void check(cublasStatus_t status, const char* doing) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(HSTU_ERROR_DEVICE, "cuBLASLt, {}: status {}", doing, static_cast<int>(status));
}

/// The library is column-major, so it computes the transpose: z^T [n, m] = w^T [n, k] x^T [k, m].
class Product final : public CublasLtProduct {
 public:
  Product(hstu_dtype dtype, int64_t m, int64_t n, int64_t k, bool bias) : lt_(library()), bias_(bias) {
    const cudaDataType_t type = dtype == HSTU_DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    open();
    if (bias) {
      const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
    }
    describe(w_, type, n, k);
    describe(x_, type, k, m);
    describe(z_, type, n, m);
    choose();
  }

  struct Fp8 {
    int64_t m, n, k;
    bool row_scales;
  };
  explicit Product(const Fp8& f) : lt_(library()), bias_(false) {
    open();
    const cublasOperation_t transposed = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    if (f.row_scales) {
      const int32_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
      set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
      set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    }
    describe(w_, CUDA_R_8F_E4M3, f.k, f.n);
    describe(x_, CUDA_R_8F_E4M3, f.k, f.m);
    describe(z_, CUDA_R_16BF, f.n, f.m);
    set_descales(&some_address_, &some_address_);  // the choice depends on their being there
    choose();
  }

  ~Product() override {
    lt_.cublasLtMatrixLayoutDestroy(w_);
    lt_.cublasLtMatrixLayoutDestroy(x_);
    lt_.cublasLtMatrixLayoutDestroy(z_);
    lt_.cublasLtMatmulDescDestroy(product_);
    lt_.cublasLtDestroy(handle_);
  }

  void set_descales(const void* x, const void* w) override {
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, w);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, x);
  }

  void run(const void* x, const void* w, const void* bias, void* z, void* workspace, CUstream stream) override {
    if (bias_) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    const float one = 1.0f, zero = 0.0f;
    check(lt_.cublasLtMatmul(handle_, product_, &one, w, w_, x, x_, &zero, z, z_, z, z_, &choice_.algo, workspace,
                             kWorkspaceBytes, reinterpret_cast<cudaStream_t>(stream)),
          "running a product");
  }

 private:
  void open() {
    check(lt_.cublasLtCreate(&handle_), "creating a handle");
    check(lt_.cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing the product");
  }
  void describe(cublasLtMatrixLayout_t& layout, cudaDataType_t type, int64_t rows, int64_t columns) {
    check(lt_.cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                                         rows),
          "describing an operand");
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(lt_.cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value), "setting an attribute");
  }

  void choose() {
    cublasLtMatmulPreference_t preference = nullptr;
    check(lt_.cublasLtMatmulPreferenceCreate(&preference), "creating a preference");
    const size_t bytes = kWorkspaceBytes;
    lt_.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                             sizeof bytes);
    int found = 0;
    const cublasStatus_t status =
        lt_.cublasLtMatmulAlgoGetHeuristic(handle_, product_, w_, x_, z_, z_, preference, 1, &choice_, &found);
    lt_.cublasLtMatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE || found == 0)
      fail(HSTU_ERROR_UNSUPPORTED, "cuBLASLt has no algorithm for this product");
    check(status, "asking for an algorithm");
  }

  const Library& lt_;
  bool bias_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t w_ = nullptr, x_ = nullptr, z_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_{};
  float some_address_ = 1;
};

}  // namespace

std::unique_ptr<CublasLtProduct> CublasLtProduct::create(hstu_dtype dtype, int64_t m, int64_t n, int64_t k, bool bias) {
  if (!library().complete) return nullptr;
  return std::make_unique<Product>(dtype, m, n, k, bias);
}

std::unique_ptr<CublasLtProduct> CublasLtProduct::create_fp8(int64_t m, int64_t n, int64_t k, bool row_scales) {
  if (!library().complete) return nullptr;
  return std::make_unique<Product>(Product::Fp8{m, n, k, row_scales});
}

}  // namespace hstujit::tool
