"""Options and counters of the contexts that torch's operators run on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
import torch

import hstujit
import hstujit.torch as ht
from hstujit import _contexts


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout


def test_metrics_name_the_devices_in_use() -> None:
    ht.layer_norm(torch.ones(2, 3))
    text = hstujit.metrics()
    assert 'hstujit_plans{device="cpu' in text
    assert text.count("# TYPE hstujit_plans gauge") == 1


def test_metrics_are_empty_before_the_first_call() -> None:
    assert run("import hstujit, hstujit.torch; print(repr(hstujit.metrics()))") == "''\n"


def test_a_miss_policy_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="miss = 'never'"):
        hstujit.configure(miss="never")


def test_configuring_before_and_after_loading() -> None:
    program = (
        "import hstujit; hstujit.configure(store='', miss='fail'); import hstujit.torch as ht, torch;"
        "ht.layer_norm(torch.ones(2, 3)); hstujit.configure(store='', miss='async'); print(ht.layer_norm(torch.ones(2, 3)))"
    )
    assert "tensor" in run(program)


def test_a_context_is_there_for_the_c_api() -> None:
    assert _contexts.context(-1)
    assert _contexts.context(-1) == _contexts.context(-1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is there")
def test_a_device_that_is_not_there_is_an_error() -> None:
    with pytest.raises(hstujit.Error) as caught:
        _contexts.context(0)
    assert caught.value.status is hstujit.Status.DEVICE


def test_a_child_of_a_fork_has_contexts_of_its_own() -> None:
    x = torch.ones(2, 3)
    ht.layer_norm(x)
    child = os.fork()
    if child == 0:
        try:
            good = bool(torch.equal(ht.layer_norm(x), torch.zeros(2, 3)))
        except BaseException:
            good = False
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_call_at_the_same_time_without_the_lock_of_python() -> None:
    """A long call in one thread: the others run Python meanwhile."""
    q = torch.randn(600, 4, 64)
    offsets = torch.tensor([0, 600])
    started, done = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        ht.attention(q, q, q, offsets, 600)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    turns = 0
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 1000  # of a lock that is held for the whole call there would be a handful


def test_many_threads_give_the_same_bits() -> None:
    x, w, b = torch.randn(64, 32), torch.randn(32), torch.randn(32)
    wanted = ht.layer_norm(x, w, b)
    results: list[bool] = []

    def work() -> None:
        results.append(all(torch.equal(ht.layer_norm(x, w, b), wanted) for _ in range(50)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8
