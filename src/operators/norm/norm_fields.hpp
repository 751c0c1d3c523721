// Key fields of the normalising operators: indices into Problem::field, in the order of fields_of(op).
#pragma once

namespace hstujit {

namespace layer_norm {
enum : int { kDtype, kWeightDtype, kHasWeight, kFp8 /* of y; or none */, kScaling, kDim, kVector, kRows };
}
namespace swish_layer_norm = layer_norm;  // made by one prepare()
namespace rms_norm {
enum : int { kDtype, kWeightDtype, kHasWeight, kFp8, kScaling, kDim, kActivation, kVector, kRows };
}
namespace group_norm {
enum : int { kDtype, kWeightDtype, kHasWeight, kDim, kGroups, kVector, kRows };
}
namespace rms_norm_rope {
enum : int { kDtype, kWeightDtype, kAngleDtype, kFp8, kScaling, kDim, kHeadDim, kVector, kBatch, kLength };
}
namespace softmax {
enum : int { kDtype, kDim, kLog, kZeroEmpty, kVector, kRows };
}
namespace dropout {
enum : int { kDtype, kActive /* 0: ratio 0 */, kFlat /* no gaps between rows */, kWords, kVector, kRows, kDim };
}
namespace norm_mul {
enum : int {
  kDtype,
  kWeightDtype,
  kFp8 /* of out; or none */,
  kScaling,
  kDim,
  kGroups /* 0 layer norm */,
  kActivation,
  kConcatU,
  kConcatX,
  kSiluU,
  kNorm /* hstu_norm */,
  kDropout /* 0 none, else 1 + hstu_dropout_stream */,
  kVector,
  kRows
};
}

}  // namespace hstujit
