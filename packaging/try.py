#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds a recipe of packaging/ for real, and runs a program from what it has installed.

Usage: try.py deb|rpm|conda|spack|nix|container TARBALL [--base TARBALL] [--keep DIR]

TARBALL is that of scripts/release.py. No network is needed (but for deb and container): packages
that a recipe asks for are stand-ins without files, and the tools and libraries of this machine are
used in their place.
  deb        make packages, lintian; installed, used and purged in a Debian 12 (--base) by apt-get
  rpm        rpmbuild (package rpm); the packages go into a scratch root by rpm --root
  conda      py-rattler-build from PyPI; channel of stand-ins
  spack      the class is loaded beside a stand-in of spack.package, and its phases are run
  nix        nix-build (package nix-bin); stand-in of nixpkgs with the options of its cmake hook
  container  buildah; --base stands in for docker.io/library/debian:12
--base is a tarball of Debian 12: mmdebstrap --variant=minbase --include=ca-certificates bookworm F
Exit code 77: the program that builds it is not there.
"""

import argparse
import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

JOBS = str(os.cpu_count() or 2)
LIST = ("jansson", "libpng", "fftw", "libfabric", "cmake", "ninja", "pkg-config", "python", "clang")
HELLO = """#include <gasnetex.h>
#include <stdio.h>
int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  if (gex_Client_Init(&client, &ep, &tm, "TRY", &argc, &argv, 0)) return 1;
  printf("rank %u of %u\\n", gex_TM_QueryRank(tm), gex_TM_QuerySize(tm));
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
}
"""


class Missing(Exception):
    """A program that builds the recipe is not there."""


def need(program, package):
    """Ends with code 77 where a program is missing."""
    if not shutil.which(program):
        raise Missing(f"there is no {program} ({package})")


def run(*words, **options):
    """Runs a command and shows it; the script ends where it fails. Returns what it prints."""
    print("+", *words, flush=True)
    done = subprocess.run(
        [str(w) for w in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    if done.returncode != 0:
        print(done.stdout[-4000:])
        raise SystemExit(f"try.py: {words[0]} failed with code {done.returncode}")
    return done.stdout


def unpack(tar, folder):
    """The sources of a tarball."""
    shutil.unpack_archive(tar, folder)
    return next(folder.glob("tombolo-*"))


def use(prefix, folder, enter=(), inside=None):
    """Compiles a program against an installation and runs it by its own launcher.

    in enter: words before each command (chroot DIR). in inside: folder as those commands see it.
    """
    (folder / "hello.c").write_text(HELLO)
    here = inside or folder
    config = f"PKG_CONFIG_PATH={prefix}/lib/pkgconfig"
    flags = run(*enter, "env", config, "pkg-config", "--cflags", "--libs", "gasnet-smp-par").split()
    run(*enter, "cc", here / "hello.c", "-o", here / "hello", *flags, f"-Wl,-rpath,{prefix}/lib")
    said = run(*enter, f"{prefix}/bin/tombolo", "run", "-n", "3", here / "hello")
    wanted = [f"rank {r} of 3" for r in range(3)]
    if sorted(said.split("\n"))[-3:] != wanted:
        raise SystemExit(f"try.py: the program printed: {said}")
    print(run(*enter, f"{prefix}/bin/tombolo", "version").strip())


def try_deb(tar, folder, base):
    """Packages of `make packages`, in a system that has never seen Tombolo."""
    need("cpack", "package cmake")
    if not base or os.geteuid() != 0:
        raise Missing("no --base, a tarball of Debian 12, or not root")
    source, root = unpack(tar, folder), folder / "root"
    run("make", "packages", "TESTS=1", f"JOBS={JOBS}", cwd=source)  # with all compilers
    packages = sorted((source / "build/packages").glob("*.deb"))
    if shutil.which("lintian"):
        print(run("lintian", "--no-cfg", "--fail-on", "error,warning", *packages))
    root.mkdir()
    run("tar", "-C", root, "--exclude=./dev/*", "-xf", base)
    (root / "packages").mkdir()
    for package in packages:
        shutil.copy(package, root / "packages")
    unpack(tar, root)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    inside = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
    alone = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", inside, root)
    work = f"/{source.name}"
    print(run(*alone, "bash", f"{work}/packaging/debian/try.sh", "/packages", work))


def try_rpm(tar, folder, _):
    """Packages from the spec, installed below a scratch root."""
    need("rpmbuild", "package rpm")
    source = unpack(tar, folder)
    top = folder / "rpmbuild"
    (top / "SOURCES").mkdir(parents=True, exist_ok=True)
    shutil.copy(tar, top / "SOURCES")
    spec = source / "packaging/tombolo.spec"
    run("rpmbuild", "--nodeps", "--define", f"_topdir {top}", "-ba", spec)
    packages = sorted(top.glob("RPMS/*/*.rpm"))
    root = folder / "root"
    run("rpm", "--root", root, "--initdb")
    run("rpm", "--root", root, "--nodeps", "--noscripts", "-i", *packages)
    print(run("rpm", "--root", root, "-V", "--nodeps", "-a").strip())
    # The system's compiler sees the root as its own /usr: bind mounts in a namespace of its own.
    over = f"mount -t overlay o -o lowerdir={root}/usr:/usr /usr && exec \"$@\""
    use("/usr", folder, ("unshare", "--mount", "bash", "-c", over, "bash"))
    names = [p.name for p in packages]
    run("rpm", "--root", root, "--nodeps", "--noscripts", "-e", *[n.split("-0.")[0] for n in names])
    left = [p for p in root.rglob("*") if p.is_file() and "rpm" not in str(p.relative_to(root))]
    if left:
        raise SystemExit(f"try.py: stays behind after rpm -e: {left[:5]}")
    print(f"rpm: {len(names)} packages built, installed, used and removed")


def stand_ins(channel, rattler):
    """A channel with an empty package for each one that the recipe asks for."""
    names = [*LIST, "gcc_linux-64", "gxx_linux-64"]
    for name in names:
        recipe = channel / "recipes" / name
        recipe.mkdir(parents=True)
        number = {"cmake": "3.25", "python": "3.11"}.get(name, "1.0")
        (recipe / "recipe.yaml").write_text(
            f'package: {{name: "{name}", version: "{number}"}}\nbuild: {{script: ["true"]}}\n'
        )
        build_conda(recipe / "recipe.yaml", channel, [], rattler, "skip")


def build_conda(recipe, out, channels, rattler, tests):
    """Builds one recipe into a channel. Returns the paths of the packages."""
    made = []
    for variant in rattler.Stage0Recipe.from_file(recipe).render():
        done = variant.run_build(
            tool_config=rattler.ToolConfiguration(test_strategy=tests),
            output_dir=out,
            channels=channels,
            env_isolation=rattler.EnvironmentIsolation.NONE,
        )
        made += [Path(p) for p in done.packages]
    return made


def try_conda(tar, folder, _):
    """The recipe of conda by rattler-build."""
    if not importlib.util.find_spec("rattler_build"):
        raise Missing("there is no module rattler_build (py-rattler-build from PyPI)")
    import rattler_build  # pylint: disable=import-outside-toplevel,import-error

    channel = folder / "channel"
    stand_ins(channel, rattler_build)
    recipe = unpack(tar, folder) / "packaging/conda/recipe.yaml"
    made = build_conda(recipe, channel, [f"file://{channel}"], rattler_build, "native")
    print(f"conda: {[p.name for p in made]} built; its tests passed")


def try_spack(tar, folder, _):
    """The class of package.py, with a stand-in for what Spack gives it."""
    source = unpack(tar, folder)
    prefix, build = folder / "prefix", folder / "build"
    module = types.ModuleType("spack.package")
    asked = []

    class CMakePackage:
        """As Spack's: configure, build, install."""

        build_targets, install_targets = [], ["install"]

        def define(self, name, value):
            """As Spack's."""
            kind = "BOOL" if isinstance(value, bool) else "STRING"
            return f"-D{name}:{kind}={'ON' if value is True else 'OFF' if value is False else value}"

        def define_from_variant(self, name, variant):
            """Variants have their defaults."""
            return self.define(name, variants[variant])

    variants = {}
    module.CMakePackage = CMakePackage
    module.variant = lambda name, default, description: variants.update({name: default})
    for name in ("license", "version", "depends_on", "generator"):
        setattr(module, name, lambda *words, **options: asked.append((words, options)))
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), module
    spec = importlib.util.spec_from_file_location("package", source / "packaging/spack/package.py")
    package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    recipe = package.Tombolo()
    options = [
        f"-DCMAKE_INSTALL_PREFIX:STRING={prefix}",
        "-DCMAKE_BUILD_TYPE:STRING=Release",
        "-DBUILD_TESTING:BOOL=OFF",
        "-DCMAKE_INSTALL_RPATH_USE_LINK_PATH:BOOL=ON",
        f"-DCMAKE_INSTALL_RPATH:STRING={prefix}/lib;{prefix}/lib64",
    ]
    run("cmake", "-G", "Ninja", *options, *recipe.cmake_args(), "-S", source, "-B", build)
    run("ninja", "-j", JOBS, *recipe.build_targets, cwd=build)
    run("ninja", "-j", JOBS, *recipe.install_targets, cwd=build)
    use(prefix, folder)
    print(f"spack: phases run with variants {variants}; {len(asked)} directives")


NIX = """
let
  flake = import SOURCE/flake.nix;
  fake = name: derivation {
    inherit name; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" "/bin/mkdir $out" ];
  };
  # As stdenv with the hooks of cmake and ninja: folders of the installation are absolute paths.
  mkDerivation = a: derivation ((removeAttrs a [ "meta" ]) // {
    name = "${a.pname}-${a.version}"; system = "x86_64-linux"; builder = "/bin/bash";
    PATH = "/usr/bin:/bin"; CACHE
    args = [ "-ec" ''
      cp -r "$src" source; chmod -R u+w source; mkdir build; cd build
      cmake ../source -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$out \\
        -DCMAKE_INSTALL_BINDIR=$out/bin -DCMAKE_INSTALL_INCLUDEDIR=$out/include \\
        -DCMAKE_INSTALL_LIBDIR=$out/lib -DCMAKE_INSTALL_LIBEXECDIR=$out/libexec \\
        -DCMAKE_INSTALL_MANDIR=$out/share/man -DCMAKE_INSTALL_DOCDIR=$out/share/doc/tombolo \\
        -DCMAKE_EXPORT_NO_PACKAGE_REGISTRY=ON -DBUILD_TESTING=OFF $cmakeFlags
      ninja -jJOBS $ninjaFlags
      ninja -jJOBS $ninjaFlags install
    '' ];
  });
  packages = {
    stdenv = { inherit mkDerivation; }; mkShell = a: fake "shell"; lib.licenses.bsd3 = { };
  } // builtins.listToAttrs (map (name: { inherit name; value = fake name; }) [
    "cmake" "ninja" "pkg-config" "python3" "clang" "jansson" "libpng" "fftw" "libfabric"
    "libsodium" "cmocka"
  ]);
  nixpkgs = {
    lib.genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; })
      names);
    legacyPackages = { x86_64-linux = packages; aarch64-linux = packages; };
  };
in (flake.outputs { self = SOURCE; inherit nixpkgs; }).packages.x86_64-linux.default
"""


def try_nix(tar, folder, _):
    """The flake's package, in a store of its own."""
    need("nix-build", "package nix-bin")
    source = unpack(tar, folder)
    cache = "".join(f'{k} = "{v}"; ' for k, v in os.environ.items() if "CCACHE" in k or "LAUNCH" in k)
    text = NIX.replace("SOURCE", str(source)).replace("JOBS", JOBS).replace("CACHE", cache)
    (folder / "try.nix").write_text(text)
    place = {f"NIX_{n}_DIR": str(folder / "nix" / n.lower()) for n in ("STORE", "STATE", "LOG")}
    settings = "sandbox = false\nbuild-users-group =\nsubstituters =\n"
    nix = {**os.environ, **place, "NIX_CONFIG": settings, "HOME": str(folder)}
    said = run("nix-build", folder / "try.nix", "-o", folder / "result", env=nix)
    prefix = said.strip().split("\n")[-1]
    use(prefix, folder)
    print(f"nix: built {Path(prefix).name}")


def try_container(tar, folder, base):
    """The Containerfile by buildah, and the program inside."""
    need("buildah", "package buildah")
    if not base:
        raise Missing("no --base, a tarball of Debian 12")
    source = unpack(tar, folder)
    place = ["buildah", "--root", folder / "images", "--runroot", folder / "run"]
    place += ["--storage-driver", "vfs"]
    made = run(*place, "from", "scratch").strip()
    run(*place, "add", made, base, "/")
    run(*place, "commit", "--rm", made, "docker.io/library/debian:12")
    limits = []  # those of this process: by default buildah asks for more
    for name in ("nofile", "nproc"):
        soft, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
        limits += ["--ulimit", f"{name}={soft}:{hard}"]
    words = ["--isolation", "chroot", "--pull-never", "--network", "host", *limits]
    file = source / "packaging/Containerfile"
    print(run(*place, "bud", *words, "-t", "tombolo", "-f", file, source)[-300:])
    inside = run(*place, "from", "--pull-never", *limits, "tombolo").strip()
    enter = [*place, "run", "--isolation", "chroot", inside, "--"]
    print(run(*enter, "tombolo", "run", "-n", "4", "/usr/local/share/doc/tombolo/hello"))
    (folder / "hello.c").write_text(HELLO)
    run(*place, "copy", "--chown", "rank", inside, folder / "hello.c", "/home/rank/hello.c")
    script = (
        "cd && cc hello.c -o hello $(pkg-config --cflags --libs gasnet-smp-par) "
        "&& tombolo run -n 3 ./hello"
    )
    print(run(*enter, "sh", "-c", script))
    print("container: built, and a program was compiled and run in it")


def main():
    """Tries one."""
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    tries = {k[4:]: v for k, v in globals().items() if k.startswith("try_")}
    parse.add_argument("recipe", choices=sorted(tries))
    parse.add_argument("tarball", type=Path)
    parse.add_argument("--base", type=Path)
    parse.add_argument("--keep", type=Path, help="work in this folder, and do not remove it")
    options = parse.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="tombolo-try-"))
    folder.mkdir(exist_ok=True)
    try:
        tries[options.recipe](options.tarball.resolve(), folder.resolve(), options.base)
    except Missing as missing:
        print(f"try.py: skipped: {missing}")
        return 77
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
