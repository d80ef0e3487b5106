#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# size.sh PACKAGE...: puts the true Installed-Size into packages: the KiB that each file fills, one
# for each link and folder. CPack counts a link as large as its target, so that it is 20 times too
# much for tombolo-dev. Called by CPack after it has packed.
set -euo pipefail
for package in "$@"; do
  package=$(readlink -f "$package")
  size=$(dpkg-deb --fsys-tarfile "$package" | LC_ALL=C tar -tv |
    awk '/^-/ { kib += int(($3 + 1023) / 1024); next } { kib++ } END { print kib }')
  work=$(mktemp -d)
  dpkg-deb --control "$package" "$work/DEBIAN"
  sed -i "s/^Installed-Size: .*/Installed-Size: $size/" "$work/DEBIAN/control"
  time=$(stat -c %Y "$work/DEBIAN/md5sums")
  tar -C "$work/DEBIAN" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" \
    --format=gnu -cf - . | gzip -9n >"$work/control.tar.gz"
  ar t "$package" | grep -qx control.tar.gz
  (cd "$work" && ar rD "$package" control.tar.gz)
  rm -rf "${work:?}"
done
