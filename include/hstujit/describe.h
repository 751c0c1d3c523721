/**
 * Operators as data: what each one's args struct holds and what a call may give it. For hosts that write their calls by
 * program: bindings of other languages, generators, loaders of models. Included by hstujit.h.
 */
#ifndef HSTUJIT_DESCRIBE_H
#define HSTUJIT_DESCRIBE_H

#include <hstujit/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a member of an args struct is. */
typedef enum hstu_member_kind {
  HSTU_MEMBER_INPUT = 0,         /* hstu_tensor, read */
  HSTU_MEMBER_INTEGERS = 1,      /* hstu_tensor of offsets, lengths or numbers: read; decides which memory is touched */
  HSTU_MEMBER_OUTPUT = 2,        /* hstu_tensor, written */
  HSTU_MEMBER_F32 = 3,           /* float */
  HSTU_MEMBER_F64 = 4,           /* double */
  HSTU_MEMBER_I32 = 5,           /* int32_t */
  HSTU_MEMBER_I64 = 6,           /* int64_t */
  HSTU_MEMBER_ENUM = 7,          /* an integer of `size` bytes; `words` names its values 0, 1, ... */
  HSTU_MEMBER_WORKSPACE = 8,     /* void*: memory for the call, aligned to 256 bytes */
  HSTU_MEMBER_WORKSPACE_SIZE = 9 /* size_t: its bytes, at least what the function `workspace` says */
} hstu_member_kind;

/**
 * A member of the struct, or of one within it: forward.x of a gradient is called x, mask.num_targets is called
 * num_targets, and mask.kind is called mask. Names are unique within an operator.
 *
 * offset         from the begin of the args struct, in this release's layout
 * size           bytes: sizeof(hstu_tensor), 4 or 8
 * optional       1: calls may leave it all zero, some only together with another member
 * accumulates    of an output: 1 where calls add to what is there if their member `accumulate` is 1
 * dtypes         of a tensor: bit 1 << HSTU_DTYPE_x for each element type that some call may have; hstu_context_takes
 *                says which of them go together, and on which device
 * free_strides   [r], of a tensor of rank r: how many of its leading dimensions may have any stride, those of an input
 *                0 too. The dimensions behind are contiguous. r - 1 is the usual case. r means that the last stride is
 *                free as well. -1: no call has such a rank. An output may not overlap itself
 * default_value  of a number: what 0 counts as. Mostly that is 0 itself. NaN: it follows from other members
 * words          of an enum: num_words of them. An operator may refuse some
 */
typedef struct hstu_member {
  const char* name;
  size_t offset, size;
  hstu_member_kind kind;
  int32_t optional;
  int32_t accumulates;
  uint32_t dtypes;
  int8_t free_strides[8];
  double default_value;
  const char* const* words;
  size_t num_words;
} hstu_member;

/**
 * An operator. The structs are the library's, as large as struct_size and member_size say. A later release may add
 * members at their ends, so the next member lies member_size bytes behind one, not sizeof(hstu_member).
 *
 * name       "layer_norm_backward", as hstu_operator_name has it
 * function   "hstu_layer_norm_backward"
 * args       "hstu_layer_norm_backward_args"
 * workspace  "hstu_layer_norm_backward_workspace_size"; NULL: calls need none
 * args_size  struct_size of the args for which the offsets hold
 * members    num_members of them: tensors, then numbers, then the workspace. Members that no call may set yet are not
 *            among them, nor are those of a struct within that the operator does not read
 */
typedef struct hstu_operator_description {
  size_t struct_size;
  const char* name;
  const char* function;
  const char* args;
  const char* workspace;
  size_t args_size;
  const hstu_member* members;
  size_t num_members, member_size;
} hstu_operator_description;

/**
 * What the operator of this name takes, in static memory: the same address each time. Chains (layer.h) have arrays of
 * structs on the host in their arguments and are not described.
 * Errors: INVALID_ARGUMENT when there is no such operator.
 */
HSTU_API hstu_status hstu_operator_describe(const hstu_operator_description** out, const char* op);

#ifdef __cplusplus
}
#endif
#endif
