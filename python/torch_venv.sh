#!/usr/bin/env bash
# Makes a virtual environment with torch and the tools of the tests, or leaves one that is there: 2 GB, a minute. PyPI's
# torch needs CUDA's libraries to be imported, on the CPU too. Beside a toolkit of the same CUDA three of them are enough;
# elsewhere it gets all.
#   python/torch_venv.sh FOLDER [TORCH_VERSION|newest]
# Exit code 77: python3 has no venv module, or the package registry cannot be reached; the reason is printed.
set -euo pipefail
venv=$1 torch=torch==${2:-2.11.0}
torch=${torch%==newest}
[ ! -e "$venv/complete" ] || exit 0
rm -rf "$venv"
python3 -m venv "$venv" || { echo "skipped: python3 -m venv does not work; install python3-venv"; exit 77; }
install() { "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }
install --retries 1 pytest mypy ruff auditwheel || { echo "skipped: no package registry can be reached"; exit 77; }
install --no-deps "$torch" filelock typing_extensions sympy networkx jinja2 fsspec mpmath markupsafe numpy \
  nvidia-cufile nvidia-cusparselt-cu13 nvidia-nvshmem-cu13
"$venv/bin/python" -c 'import torch' 2>/dev/null || install "$torch"
touch "$venv/complete"
