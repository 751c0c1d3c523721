"""hstujit.tune and hstujit.bench: the packaged hstu-tune, with its results as rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ._errors import Status, error_of
from ._tool import _run, _store, _workload


def tune(
    workload: str | os.PathLike[str] = "dlrm_v3",
    *,
    budget_s: float = 60.0,
    until: float | None = None,
    strategy: str = "model",
    seed: int = 1,
    again: bool = False,
    by_time: bool = False,
    all_gpus: bool = False,
    device: str | None = None,
    store: str | os.PathLike[str] | None = None,
) -> str:
    """Finds the best configuration of each of a workload's problems on a GPU, keeps it in the store, and gives the tool's text.

    workload  a workload file, or the name of one of the package: dlrm_v3, dlrm_v3_fp8, figures
    budget_s  seconds, all problems together
    until     ends a problem when a second more is expected to make it faster by less than this share; None: when everything is
              measured
    strategy  "model", "local", "random" or "exhaustive"
    seed      of the search and its inputs
    again     measures what was tuned before, too
    by_time   problems count by the time that the traffic spends in them
    all_gpus  a process for each GPU of the machine, each with its share of the problems
    device    "cuda" or "cuda:N"; None: cuda
    store     folder of the store; None: that of configure(), else the default one
    Calls find the records by themselves; a process that has made its contexts before sees them after its next start.
    Raises hstujit.Error with the tool's text.
    """
    options = ["--budget", str(budget_s), "--strategy", strategy, "--seed", str(seed)]
    options += ["--until", str(until)] if until is not None else []
    options += ["--device", device] if device is not None else []
    flags = {"--again": again, "--by-time": by_time, "--all-gpus": all_gpus}
    options += [flag for flag, given in flags.items() if given]
    return _run("tune", _workload(workload), *options, *_store(store))


class Row(NamedTuple):
    """One operator of a workload, as it ran.

    name           its part in the layer, or the workload's name for it
    problem        what shapes its kernel
    configuration  of the kernel, and where that came from
    seconds        a call, caches cold, median; `spread` is the median deviation from it
    tflops, gbs    what the call must compute and move, a second
    share          of the roofline: the greater of gbs by a device copy's, and tflops by a large bf16 product's, both measured
                   in the same run; None without a yardstick
    bound          which of the two it is: "memory", "compute" or ""
    vendor_seconds the vendor's library with the same operands; None where it has no such call
    correct        whether the stack whose part it is agreed with double precision on this device; None: it is no part of one,
                   or that was not asked for
    """

    name: str
    problem: str
    configuration: str
    seconds: float
    spread: float
    tflops: float
    gbs: float
    share: float | None
    bound: str
    vendor_seconds: float | None
    correct: bool | None


def _share(operator: dict[str, Any], yardsticks: dict[str, float]) -> tuple[float | None, str]:
    """The share of the roofline, and what bounds it."""
    shares = []
    for rate, yardstick, bound in (("gbs", "copy_gbs", "memory"), ("tflops", "product_tflops", "compute")):
        if yardsticks.get(yardstick, 0) > 0:
            shares.append((operator[rate] / yardsticks[yardstick], bound))
    return max(shares) if shares else (None, "")


def rows_of(report: dict[str, Any], run: dict[str, Any] | None) -> list[Row]:
    """Rows of the JSON of `hstu-tune bench`, checked by that of `hstu-tune run`, if there is one."""
    checked: set[str] = set()
    passed = None
    if run is not None:
        checked = {part["name"] for part in run.get("parts", ())}
        passed = bool(run["check"]["passed"])
    rows = []
    for operator in report.get("operators", ()):
        share, bound = _share(operator, report.get("yardsticks", {}))
        rows.append(
            Row(
                name=operator["name"],
                problem=operator["problem"],
                configuration=operator["configuration"],
                seconds=operator["seconds"],
                spread=operator["mad_seconds"],
                tflops=operator["tflops"],
                gbs=operator["gbs"],
                share=share,
                bound=bound,
                vendor_seconds=operator["vendor_seconds"] or None,
                correct=passed if operator["name"] in checked else None,
            )
        )
    return rows


def _json_of(command: str, *arguments: str, may_fail: bool = False) -> dict[str, Any]:
    """What a subcommand of the tool writes with --json."""
    import json
    import tempfile  # here, because both would double the time of `import hstujit`

    with tempfile.TemporaryDirectory(prefix="hstujit-") as folder:
        path = Path(folder) / "report.json"
        text = _run(command, *arguments, "--json", str(path), may_fail=may_fail)
        if not path.is_file():
            raise error_of(Status.INTERNAL, f"hstu-tune {command} wrote no results\n{text}")
        report: dict[str, Any] = json.loads(path.read_text())
        return report


def _has_stack(workload: str) -> bool:
    import json

    return "stack" in json.loads(Path(workload).read_text())


def bench(
    workload: str | os.PathLike[str] = "dlrm_v3",
    *,
    figures: Sequence[str] = (),
    check: bool = True,
    device: str = "cuda",
    store: str | os.PathLike[str] | None = None,
) -> list[Row]:
    """Measures every operator of a workload on a GPU.

    workload  a workload file, or the name of one of the package: dlrm_v3, dlrm_v3_fp8, figures
    figures   names of the workload's figures to measure, and nothing beside them; (): everything
    check     runs the workload's stack, if it has one, and compares it with double precision
    device    "cuda", "cuda:N", or "cuda@sm_80": kernels of that generation only
    store     folder of the store; None: that of configure(), else the default one
    What was tuned runs as it was tuned, everything else as the library would choose. Raises hstujit.Error with the tool's text.
    """
    path = _workload(workload)
    where = ["--device", device, *_store(store)]
    chosen = ["--figures", ",".join(figures)] if figures else []
    report = _json_of("bench", path, "--only", "operators", *chosen, *where)
    run = _json_of("run", path, "--budget", "0", *where, may_fail=True) if check and _has_stack(path) else None
    return rows_of(report, run)
