#!/usr/bin/env python3
"""What Triton and CuPy take for what hstu-tune bench --only engine measures of us, on the same machine in the same run:
a warm call with as many arguments as jagged attention has, the first launches of a process whose kernels are on disk,
and compiling 64 kernels on all cores. Prints one JSON object; a rival that is not installed is left out."""
import concurrent.futures
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time

POINTERS, NUMBERS, KERNELS = 12, 18, 64
ROUNDS, BATCH = 200, 20
FILLERS = 8  # processes

CUPY_SOURCE = """
extern "C" __global__ void attention_like(%s, %s) {
  if (n17 == -1) p0[0] = n0 + n1;
}
""" % (", ".join("float* p%d" % i for i in range(POINTERS)), ", ".join("int n%d" % i for i in range(NUMBERS)))

# A tiled product with SiLU, its tile unrolled as ours are: what there is to compile, not how fast it runs.
CUPY_TILE = """
extern "C" __global__ void tile%(id)d(const float* a, const float* b, float* c, int k) {
  float sum[%(m)d][%(n)d] = {};
  for (int i = 0; i < k; ++i) {
    float x[%(m)d], y[%(n)d];
    #pragma unroll
    for (int r = 0; r < %(m)d; ++r) x[r] = a[(blockIdx.x * %(m)d + r) * k + i];
    #pragma unroll
    for (int r = 0; r < %(n)d; ++r) y[r] = b[(threadIdx.x * %(n)d + r) * k + i];
    #pragma unroll
    for (int r = 0; r < %(m)d; ++r)
      #pragma unroll
      for (int s = 0; s < %(n)d; ++s) sum[r][s] += x[r] * y[s];
  }
  #pragma unroll
  for (int r = 0; r < %(m)d; ++r)
    #pragma unroll
    for (int s = 0; s < %(n)d; ++s)
      c[(blockIdx.x * %(m)d + r) * blockDim.x * %(n)d + threadIdx.x * %(n)d + s] = sum[r][s] / (1 + __expf(-sum[r][s]));
}
"""


def cupy_tile(index):
    return CUPY_TILE % {"id": index, "m": 4 + index % 8, "n": 2 + index // 8}


def host_us(call, synchronise):
    """Median time of a call, in batches that never fill the queue."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        for _ in range(BATCH):
            call()
        times.append((time.perf_counter_ns() - start) / BATCH * 1e-3)
        synchronise()
    return statistics.median(times)


def triton_module(folder):
    """Triton kernels want a file: one with many arguments, and tiles of attention without softmax."""
    if not os.path.exists(os.path.join(folder, "rival_kernels.py")):
        write_triton_module(folder)
    sys.path.insert(0, folder)
    import rival_kernels
    return rival_kernels


def write_triton_module(folder):
    """Aside first: processes that start together must not read half of it."""
    names = ["p%d" % i for i in range(POINTERS)] + ["n%d" % i for i in range(NUMBERS)]
    aside = os.path.join(folder, "rival_kernels.%d" % os.getpid())
    with open(aside, "w") as out:
        out.write("import triton\nimport triton.language as tl\n\n")
        out.write("@triton.jit\ndef attention_like(%s, BLOCK: tl.constexpr):\n" % ", ".join(names))
        out.write("    if n17 == -1:\n        tl.store(p0, n0 + n1)\n\n")
        out.write("""@triton.jit
def tile(q, k, v, o, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows, dims, cols = tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    x = tl.load(q + rows[:, None] * D + dims[None, :])
    sum = tl.zeros([M, D], dtype=tl.float32)
    for i in range(0, n, N):
        s = tl.dot(x, tl.load(k + (i + cols)[None, :] * D + dims[:, None]))
        s = s * tl.sigmoid(s) * (rows[:, None] >= (i + cols)[None, :])
        sum += tl.dot(s.to(tl.bfloat16), tl.load(v + (i + cols)[:, None] * D + dims[None, :]))
    tl.store(o + rows[:, None] * D + dims[None, :], sum)
""")
    os.replace(aside, os.path.join(folder, "rival_kernels.py"))


def triton_configs():
    """64 of them: tiles, dims, warps and stages."""
    return [(m, n, d, warps, stages) for m in (32, 64) for n in (32, 64) for d in (32, 64, 128, 256)
            for warps in (4, 8) for stages in (2, 3)][:KERNELS]


def launch_tiles(kernels, torch, first, count):
    n = 256
    q = torch.randn(n, 256, device="cuda", dtype=torch.bfloat16)
    out = torch.empty(n, 256, device="cuda", dtype=torch.float32)
    for m, block, d, warps, stages in triton_configs()[first:first + count]:
        kernels.tile[(1,)](q, q, q, out, n, m, block, d, num_warps=warps, num_stages=stages)


def triton_calls(folder):
    import torch
    import triton
    kernels = triton_module(folder)
    arguments = [torch.empty(64, device="cuda") for _ in range(POINTERS)] + [64 + i for i in range(NUMBERS)]
    call = lambda: kernels.attention_like[(1,)](*arguments, BLOCK=64)
    call()
    return {"version": triton.__version__, "call_us": host_us(call, torch.cuda.synchronize)}


def triton_start(folder, first, count):
    """In a fresh process: everything imported and the device's context made, then the first launches."""
    import torch
    kernels = triton_module(folder)
    torch.zeros(1, device="cuda") + 1
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch_tiles(kernels, torch, first, count)
    torch.cuda.synchronize()
    return {"ms": (time.perf_counter() - start) * 1e3}


def triton_compile(task):
    folder, (m, n, d, warps, stages) = task
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    kernels = triton_module(folder)
    types = {name: "*bf16" for name in "qkv"} | {"o": "*fp32", "n": "i32", "M": "constexpr", "N": "constexpr", "D": "constexpr"}
    source = ASTSource(kernels.tile, types, constexprs={"M": m, "N": n, "D": d})
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps, "num_stages": stages})


def triton_compiles(folder):
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        pool.map(triton_import, range(os.cpu_count()), 1)
        start = time.perf_counter()
        pool.map(triton_compile, [(folder, config) for config in triton_configs()], 1)
        return {"s": time.perf_counter() - start}


def triton_import(_):
    import triton  # noqa: F401: what an import costs is not what is measured


def cupy_calls(_):
    import cupy
    kernel = cupy.RawKernel(CUPY_SOURCE, "attention_like")
    import numpy
    arguments = tuple([cupy.empty(64, dtype=cupy.float32) for _ in range(POINTERS)] +
                      [numpy.int32(64 + i) for i in range(NUMBERS)])
    call = lambda: kernel((1,), (64,), arguments)
    call()
    return {"version": cupy.__version__, "call_us": host_us(call, cupy.cuda.get_current_stream().synchronize)}


def cupy_start(_, first, count):
    import cupy
    import numpy
    cupy.zeros(1) + 1
    data = cupy.zeros(1 << 20, dtype=cupy.float32)
    cupy.cuda.get_current_stream().synchronize()
    start = time.perf_counter()
    for i in range(first, first + count):
        cupy.RawKernel(cupy_tile(i), "tile%d" % i)((1,), (32,), (data, data, data, numpy.int32(16)))
    cupy.cuda.get_current_stream().synchronize()
    return {"ms": (time.perf_counter() - start) * 1e3}


def cupy_compiles(_):
    import cupy
    cupy.zeros(1) + 1
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda i: cupy.RawKernel(cupy_tile(i), "tile%d" % i).compile(), range(KERNELS)))
    return {"s": time.perf_counter() - start}


STEPS = {"triton_calls": triton_calls, "triton_compiles": triton_compiles, "cupy_calls": cupy_calls,
         "cupy_compiles": cupy_compiles, "triton_start": triton_start, "cupy_start": cupy_start}


def step(name, folder, *more):
    """A step in a process of its own, with its caches in the folder; None when it fails, with its last words."""
    environment = dict(os.environ, TRITON_CACHE_DIR=folder + "/triton", CUPY_CACHE_DIR=folder + "/cupy")
    command = [sys.executable, os.path.abspath(__file__), name, folder, *map(str, more)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        print("rivals: %s took more than two minutes" % name, file=sys.stderr)
        return None
    if done.returncode != 0:
        print("rivals: %s: %s" % (name, (done.stderr.strip().splitlines() or ["no word"])[-1]), file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(rival, folder):
    calls = step(rival + "_calls", folder)
    if calls is None:
        return None
    compiles = step(rival + "_compiles", folder)
    with concurrent.futures.ThreadPoolExecutor(FILLERS) as pool:  # fill the cache on disk
        share = KERNELS // FILLERS
        list(pool.map(lambda i: step(rival + "_start", folder, i * share, share), range(FILLERS)))
    starts = {}
    for count in (1, KERNELS):
        start = step(rival + "_start", folder, 0, count)
        starts[count] = start and start["ms"]
    return {"version": calls["version"], "call_us": calls["call_us"], "start_1_ms": starts[1],
            "start_64_ms": starts[KERNELS], "compile_64_s": compiles and compiles["s"]}


def main():
    if len(sys.argv) > 1:
        print(json.dumps(STEPS[sys.argv[1]](sys.argv[2], *map(int, sys.argv[3:]))))
        return
    report = {}
    for rival in ("triton", "cupy"):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(rival, folder)
        if found:
            report[rival] = found
    print(json.dumps(report))


if __name__ == "__main__":
    main()
