#!/usr/bin/env bash
# Tries what a new user tries, on a machine that nobody has prepared: Debian as this machine's, made anew by debootstrap
# (git, sudo, ca-certificates; an ordinary user who may use sudo), with this machine's CUDA toolkit at /usr/local/cuda and
# nothing that tells the loader of it, and an empty environment. Runs both commands of the README on a clone of HEAD, then
# configures and builds with CMake 3.28, which Ubuntu 24.04 has. As root; needs debootstrap and python3-pip; some 20
# minutes on two cores.
#   tools/fresh_machine.sh [folder for the machine, made and removed]
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "tools/fresh_machine.sh: run it as root" >&2; exit 1; }
# In a mount namespace of its own: whatever ends this script also ends its mounts.
[ -n "${HSTUJIT_OWN_MOUNTS:-}" ] || HSTUJIT_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
machine=${1:-$(mktemp -d)/machine}
[ ! -e "$machine" ] || { echo "$machine is there already" >&2; exit 1; }
mkdir -p "$(dirname "$machine")"
cuda=$(realpath "${CUDA_HOME:-/usr/local/cuda}")
. /etc/os-release
mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$VERSION_CODENAME //p" | head -n 1)
[ -n "$mirror" ] || { echo "apt knows no mirror of $VERSION_CODENAME: run apt-get update" >&2; exit 1; }

discard() {
  umount --recursive --lazy "$machine"/{proc,sys,dev,usr/local/cuda} 2>/dev/null || true
  rm -rf --one-file-system "$machine"
}
trap discard EXIT
step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
inside() { chroot "$machine" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
as_user() { # as_user COMMAND: in the clone, as the ordinary user
  inside su newcomer -c "cd ~/libhstujit && exec env -i HOME=/home/newcomer PATH=/usr/local/bin:/usr/bin:/bin bash -c '$1'"
}

step "a machine: $VERSION_CODENAME from $mirror"
debootstrap --variant=minbase --include=git,sudo,ca-certificates "$VERSION_CODENAME" "$machine" "$mirror" >"$machine.log" 2>&1 ||
  { tail "$machine.log" >&2; exit 1; }
mount --bind /proc "$machine/proc"
mount --rbind /sys "$machine/sys"
mount --rbind /dev "$machine/dev"
mkdir -p "$machine/usr/local/cuda"
mount --bind -o ro "$cuda" "$machine/usr/local/cuda"
# Registries are reached as from here: with the certificates that this machine trusts, and pip's settings for all users.
cp /etc/ssl/certs/ca-certificates.crt "$machine/etc/ssl/certs/"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$machine/etc/"
inside useradd --create-home --shell /bin/bash newcomer
echo 'newcomer ALL=(ALL) NOPASSWD:ALL' >"$machine/etc/sudoers.d/newcomer"
git clone --quiet "$source" "$machine/home/newcomer/libhstujit"
inside chown -R newcomer:newcomer /home/newcomer

step "tools/run.sh"
as_user tools/run.sh
step "tools/test.sh"
as_user tools/test.sh
step "CMake 3.28"
python3 -m pip install --quiet --target "$machine/opt/cmake" 'cmake==3.28.*'
as_user 'export PATH=/opt/cmake/cmake/data/bin:$PATH; cmake --version && cmake -S . -B build/newer -G Ninja && cmake --build build/newer'
step "all of it works on a fresh machine"
