"""What the comparisons with torch and Triton share: the command line, the library through ctypes, and calls timed in
turns."""
import argparse
import ctypes
import statistics

import torch

DTYPES = {torch.float32: 1, torch.float16: 2, torch.bfloat16: 3, torch.float8_e4m3fn: 6}  # hstu_dtype
FP8_ROW = 1  # hstu_fp8_scaling
ACTIVATION_SILU = 1  # hstu_activation


class Tensor(ctypes.Structure):
    """hstu_tensor, include/hstujit/base.h."""

    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 5), ("stride", ctypes.c_int64 * 5)]

    @classmethod
    def of(cls, t):
        return cls(t.data_ptr(), DTYPES[t.dtype], t.dim(), (ctypes.c_int64 * 5)(*t.shape),
                   (ctypes.c_int64 * 5)(*t.stride()))


class LayerNormArgs(ctypes.Structure):
    """hstu_layer_norm_args, include/hstujit/norm.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("x", Tensor), ("weight", Tensor), ("bias", Tensor), ("y", Tensor),
                ("eps", ctypes.c_float), ("scaling", ctypes.c_int), ("descale", Tensor)]


class AddmmArgs(ctypes.Structure):
    """hstu_addmm_args, include/hstujit/dense.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("x", Tensor), ("w", Tensor), ("y", Tensor), ("z", Tensor),
                ("activation", ctypes.c_int), ("activation_columns", ctypes.c_int64), ("allow_tf32", ctypes.c_int32),
                ("z1", Tensor), ("z2", Tensor), ("z3", Tensor), ("z_descale", Tensor)]


class ProductArgs(ctypes.Structure):
    """hstu_fp8_gemm_args, include/hstujit/fp8.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("a", Tensor), ("b", Tensor), ("a_descale", Tensor),
                ("b_descale", Tensor), ("bias", Tensor), ("out", Tensor), ("a_scaling", ctypes.c_int),
                ("b_scaling", ctypes.c_int), ("accumulation", ctypes.c_int), ("activation", ctypes.c_int),
                ("activation_columns", ctypes.c_int64), ("out1", Tensor), ("out2", Tensor), ("out3", Tensor),
                ("out_descale", Tensor)]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.hstu_last_error.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        self.check(self.lib.hstu_context_create(ctypes.byref(self.context), None))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.hstu_last_error().decode())

    def call(self, name, args):
        """A function that queues the operator on torch's stream."""
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        operator = getattr(self.lib, name)
        return lambda: self.check(operator(self.context, ctypes.byref(args), stream))


def milliseconds(calls, rounds, flush):
    """Median of each call, in turns: forwards, backwards, forwards... `flush` is written before each, to empty L2."""
    times = {name: [] for name in calls}
    for _ in range(10):
        for call in calls.values():
            call()
    for i in range(rounds):
        for name in list(calls) if i % 2 == 0 else list(calls)[::-1]:
            flush.fill_(1.0)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            calls[name]()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end))
    return {name: statistics.median(t) for name, t in times.items()}


def arguments(description, shapes, rounds):
    """A parser of what all comparisons take; `shapes` are texts like 65536x512."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--shapes", nargs="+", default=shapes)
    return parser


def begin(parser):
    """The options, with shapes as tuples of numbers; the library; and what `milliseconds` writes before each call."""
    options = parser.parse_args()
    options.shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes]
    torch.manual_seed(0)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    return options, Library(options.library), torch.empty(64 << 20, device="cuda")
