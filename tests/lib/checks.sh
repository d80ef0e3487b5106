# SPDX-License-Identifier: BSD-3-Clause
# For test scripts: a folder of their own, $dir, and an end with a reason. Sourced.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "FAIL: $*" >&2
  exit 1
}
