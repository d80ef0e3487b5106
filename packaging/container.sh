#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds packaging/Containerfile by buildah from the release tarball of this clone, and runs
# programs in the image. No registry is asked: the base is a Debian 12 that mmdebstrap makes. Needs
# root, buildah, netavark, mmdebstrap, python3 and git; no daemon, and no privilege beyond a mount
# namespace.
#
# Usage: container.sh [--keep DIR]     DIR: tarball, base and images stay there
set -euo pipefail

for need in buildah mmdebstrap python3 git; do
  command -v "$need" >/dev/null || { echo "container.sh: skipped: no $need"; exit 77; }
done
if [ "${1-}" = --keep ]; then
  dir=$2
  mkdir -p "$dir"
else
  dir=$(mktemp -d)
  trap 'rm -rf "${dir:?}"' EXIT
fi
cd "$(dirname "$0")/.."
mmdebstrap --variant=minbase --include=ca-certificates bookworm "$dir/base.tar"
python3 scripts/release.py --dry-run --out "$dir/release"
python3 packaging/try.py container "$dir"/release/tombolo-*.tar.gz --base "$dir/base.tar" \
  --keep "$dir/work"
