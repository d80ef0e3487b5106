#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages of Debian 12 or 13 that are missing: those that the library and `make demo`
# need. With TESTS=1 also those of the tests, with STUDY=1 also what `make study` compares with,
# with BROWSER=1 the browser in which the page of `tombolo view` is tested, with FLANG=1 the Fortran
# compiler of docs/PRIF.md, with CROSS=1 a newer clang, the compilers and the emulator for other
# processors (docs/PROCESSORS.md).
# Says first what it installs. Root installs directly; another user through sudo when sudo asks no
# password; otherwise it prints the command to run. Fails when a package is missing without which
# nothing can be built; of the others it says that what needs them is skipped. `--check` installs
# nothing, and fails when any package is missing.
set -euo pipefail

REQUIRED=(build-essential cmake ninja-build pkg-config python3 libjansson-dev)
# FFTW for the demo, ofi's headers, the cipher of udp; cpack asks `file` what a package has.
PACKAGES=(libfftw3-dev libfabric-dev libsodium-dev file)

# a|b: one of them; the first that this system has is installed.
TEST_PACKAGES=(clang clang-format libclang-rt-dev libcmocka-dev
  libpng-dev gnuplot-nox libopenblas-dev valgrind
  gfortran 'gfortran-11|gfortran-13'
  libopenmpi-dev openmpi-bin libmpich-dev mpich libpmix-dev
  slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libsimgrid-dev
  python3-dev python3-numpy python3-pytest python3-venv
  iproute2 locales groff man-db lintian abigail-tools rpm git)

# Of the study: Matplotlib for its drawings (44 MB to fetch, 190 MB on the disk); as peers ScaLAPACK
# for matmul and cholesky, OpenCoarrays, FFTW for MPI, fi_pingpong of libfabric.
STUDY_PACKAGES=(python3-matplotlib libscalapack-openmpi-dev libscalapack-mpich-dev
  libcoarrays-openmpi-dev libfftw3-mpi-dev libfabric-bin)
if [ -n "${TESTS:-}${STUDY:-}" ]; then PACKAGES+=("${TEST_PACKAGES[@]}"); fi
if [ -n "${STUDY:-}" ]; then PACKAGES+=("${STUDY_PACKAGES[@]}"); fi
if [ -n "${BROWSER:-}" ]; then PACKAGES+=(chromium); fi
if [ -n "${FLANG:-}" ]; then PACKAGES+=(flang-22); fi
if [ -n "${CROSS:-}" ]; then
  PACKAGES+=(clang-19 g++-aarch64-linux-gnu g++-riscv64-linux-gnu qemu-user-static musl-tools
    gfortran-aarch64-linux-gnu gfortran-riscv64-linux-gnu)
fi

# Without dpkg (another distribution) only the tools can be looked for.
if ! command -v dpkg-query >/dev/null; then
  missing=()
  for tool in cc c++ cmake ninja pkg-config python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "install_deps: this is not Debian; please install: ${missing[*]}" \
      "(and jansson; for the tests cmocka, FFTW 3, libsodium)" >&2
    exit 1
  fi
  exit 0
fi

is_installed() {
  dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# Whether one of the packages a|b is installed.
has_one() {
  local name
  for name in ${1//|/ }; do
    if is_installed "$name"; then return 0; fi
  done
  return 1
}

# Prints those of the given packages that are not installed, one a line.
list_missing() {
  local package
  for package in "$@"; do
    has_one "$package" || printf '%s\n' "$package"
  done
}

# Prints of each a|b the first that this system's lists of packages have, one a line. apt-cache is
# asked once: without root it reads all lists each time.
list_known() {
  local package name known
  # shellcheck disable=SC2086 # names a word
  known=$(LC_ALL=C apt-cache policy ${*//|/ } 2>/dev/null |
    awk '/^[^ ].*:$/ { name = $1 } /^ *Candidate: [^(]/ { print name }')
  for package in "$@"; do
    for name in ${package//|/ }; do
      if [[ $'\n'$known$'\n' == *$'\n'"$name:"$'\n'* ]]; then
        printf '%s\n' "$name"
        break
      fi
    done
  done
}

# Of REQUIRED: names what is missing and fails; else of the others: what needs them is skipped.
finish() {
  local required others
  mapfile -t required < <(list_missing "${REQUIRED[@]}")
  mapfile -t others < <(list_missing "${PACKAGES[@]}")
  if [ ${#required[@]} -gt 0 ]; then
    echo "install_deps: nothing can be built without these packages: ${required[*]}" >&2
    exit 1
  fi
  if [ ${#others[@]} -gt 0 ]; then
    echo "install_deps: what needs these packages is skipped: ${others[*]}" >&2
  fi
  exit 0
}

mapfile -t missing < <(list_missing "${REQUIRED[@]}" "${PACKAGES[@]}")
if [ ${#missing[@]} -eq 0 ]; then
  echo "install_deps: all $((${#REQUIRED[@]} + ${#PACKAGES[@]})) packages are installed"
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
  if command -v sudo >/dev/null; then
    by="sudo " why="sudo wants a password. First run:"
  else
    by="" why="there is no sudo. First run, as root:"
  fi
  mapfile -t wanted < <(list_known "${missing[@]}")
  if [ ${#wanted[@]} -eq 0 ]; then # no lists yet
    for package in "${missing[@]}"; do
      [[ $package == *'|'* ]] || wanted+=("$package")
    done
  fi
  echo "install_deps: not root, and $why" >&2
  echo "    ${by}apt-get update" >&2
  echo "    ${by}apt-get install -y --no-install-recommends ${wanted[*]}" >&2
  finish
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
    finish
  fi
}
run_apt update -q

mapfile -t wanted < <(list_known "${missing[@]}")
if [ ${#wanted[@]} -gt 0 ]; then
  run_apt install -q -y --no-install-recommends "${wanted[@]}"
  echo "install_deps: done"
fi
finish
