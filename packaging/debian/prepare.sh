#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# prepare.sh COMPONENT ROOT VERSION DATE: what Debian wants of a package beside its files: manual
# pages that are compressed, with links for those that only include another one; a changelog; and
# the reasons for what lintian reports (overrides, in this folder). Called by CPack before it packs.
set -euo pipefail
component=$1 root=$2 version=$3 date=$4
here=$(cd "$(dirname "$0")" && pwd)
package=tombolo-$component
if [ "$component" = python ]; then
  package=python3-tombolo
  mv "$root/usr/share/doc/tombolo-python" "$root/usr/share/doc/$package"
fi
chmod -R go-w "$root" # sources may come with the permissions of another umask
man=$root/usr/share/man
# The commands of OpenSHMEM are Open MPI's in Debian, too, and get the suffix that those of MPIs have.
# Each has the page of the command whose options it takes.
if [ "$component" = shmem ]; then
  mkdir -p "$man/man1"
  for pair in oshcc:cc oshc++:c++ oshrun:run; do
    mv "$root/usr/bin/${pair%:*}" "$root/usr/bin/${pair%:*}.tombolo"
    echo ".so man1/tombolo-${pair#*:}.1" >"$man/man1/${pair%:*}.tombolo.1"
  done
fi
if [ -d "$man" ]; then
  # Launchers have the page of the one whose options they take.
  for program in "$root"/usr/bin/gasnetrun_*; do
    page=$man/man1/$(basename "$program").1
    [ -e "$program" ] && [ ! -e "$page" ] && echo ".so man1/gasnetrun_udp.1" >"$page"
  done
  # Thousands of pages: a few programs for all, not some for each.
  find "$man" -name '*.[1-9]' -type f -print0 | xargs -0 -r awk '
    FNR == 1 && sub(/^\.so man[0-9]\//, "") { printf "%s\t%s\n", FILENAME, $0; nextfile }' |
    python3 -c 'import os, sys
for line in sys.stdin:
    page, target = line.rstrip("\n").split("\t")
    os.remove(page)
    os.symlink(target + ".gz", page + ".gz")'
  find "$man" -name '*.[1-9]' -type f -print0 | xargs -0 -r gzip -9nf
fi
for program in "$root"/usr/libexec/tombolo/tombolo-bench-*; do
  [ -e "$program" ] && strip --strip-unneeded "$program" # CPack strips what it knows as a target
done
doc=$root/usr/share/doc/$package
mkdir -p "$doc"
printf 'tombolo (%s) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' "$version" \
  "Release $version; see CHANGELOG.md in tombolo-doc." \
  "$(cat "$here/maintainer")" "$date" | gzip -9n >"$doc/changelog.gz"
awk -v package="$package" '/^#/ { reason = $0 } $1 == package ":" || $1 == "*:" {
  if (reason) print reason
  reason = ""
  $1 = package ":"
  print
}' "$here/overrides" >"$root.overrides"
if [ -s "$root.overrides" ]; then
  install -D -m 644 "$root.overrides" "$root/usr/share/lintian/overrides/$package"
fi
rm -f "$root.overrides"
