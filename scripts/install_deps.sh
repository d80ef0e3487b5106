#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian packages that building and testing Tombolo needs, and only those that are
# missing. Says first what it installs. Root installs directly; another user through sudo when sudo
# asks no password; otherwise it prints the command to run and fails. Does nothing when everything
# is there. `--check` installs nothing. With STUDY=1 also what `make study` compares with, with
# BROWSER=1 the browser in which the page of `tombolo view` is tested, with FLANG=1 the Fortran
# compiler of docs/PRIF.md, with CROSS=1 a newer clang, the compilers and the emulator for other
# processors (docs/PROCESSORS.md).
set -euo pipefail

PACKAGES=(build-essential clang clang-format libclang-rt-14-dev cmake ninja-build pkg-config
  libcmocka-dev libfftw3-dev
  libjansson-dev libpng-dev libfabric-dev libsodium-dev gnuplot-nox libopenblas-dev python3 valgrind
  gfortran gfortran-11
  libopenmpi-dev openmpi-bin libmpich-dev mpich libpmix-dev
  slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libsimgrid-dev
  python3-dev python3-numpy python3-pytest python3-venv
  groff man-db lintian abigail-tools rpm)

# Of the study: Matplotlib for its drawings (44 MB to fetch, 190 MB on the disk); as peers ScaLAPACK
# for matmul and cholesky, OpenCoarrays, FFTW for MPI, fi_pingpong of libfabric.
STUDY_PACKAGES=(python3-matplotlib libscalapack-openmpi-dev libscalapack-mpich-dev
  libcoarrays-openmpi-dev libfftw3-mpi-dev libfabric-bin)
if [ -n "${STUDY:-}" ]; then PACKAGES+=("${STUDY_PACKAGES[@]}"); fi
if [ -n "${BROWSER:-}" ]; then PACKAGES+=(chromium); fi
if [ -n "${FLANG:-}" ]; then PACKAGES+=(flang-22); fi
if [ -n "${CROSS:-}" ]; then
  PACKAGES+=(clang-19 g++-aarch64-linux-gnu g++-riscv64-linux-gnu qemu-user-static musl-tools
    gfortran-aarch64-linux-gnu gfortran-riscv64-linux-gnu)
fi

is_installed() {
  dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# Without dpkg (another distribution) only the tools can be looked for.
if ! command -v dpkg-query >/dev/null; then
  missing=()
  for tool in cc c++ cmake ninja pkg-config python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "install_deps: this is not Debian; please install: ${missing[*]}" \
      "(and cmocka, FFTW 3, jansson, libsodium)" >&2
    exit 1
  fi
  exit 0
fi

missing=()
for package in "${PACKAGES[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "install_deps: all ${#PACKAGES[@]} packages are installed"
  exit 0
fi

echo "install_deps: missing packages: ${missing[*]}"
if [ "${1:-}" = "--check" ]; then
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  echo "install_deps: not root, and sudo is missing or wants a password. First run:" >&2
  echo "    sudo apt-get update" >&2
  echo "    sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
echo "install_deps: installing them with apt-get"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_apt() {
  if ! ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
      apt-get -o DPkg::Lock::Timeout=300 "$@" \
      >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "install_deps: apt-get $1 failed" >&2
    exit 1
  fi
}
run_apt update -q
run_apt install -q -y --no-install-recommends "${missing[@]}"
for package in "${missing[@]}"; do
  is_installed "$package" || { echo "install_deps: $package is still not installed" >&2; exit 1; }
done
echo "install_deps: done"
