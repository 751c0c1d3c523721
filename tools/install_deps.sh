#!/usr/bin/env bash
# Installs what the build needs on Debian 12 or Ubuntu 24.04, and the packages given. Does nothing when everything is
# there.
set -euo pipefail
packages=(g++ cmake ninja-build pkg-config libfmt-dev libspdlog-dev nlohmann-json3-dev libsqlite3-dev libcli11-dev
          libxxhash-dev libzstd-dev libgtest-dev abigail-tools "$@")
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  sudo=$([ "$(id -u)" = 0 ] || echo sudo)
  $sudo apt-get update -q
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends "${missing[@]}"
fi
command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] || {
  echo "No CUDA toolkit found: install CUDA 12.8 or newer, or set CUDA_HOME to it." >&2
  exit 1
}
