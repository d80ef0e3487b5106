# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe of Tombolo. The checksum of a release stands in SHA256SUMS of scripts/release.py."""

from spack.package import *


class Tombolo(CMakePackage):
    """Tombolo is a communication library for PGAS programs with the interfaces of GASNet-EX,
    GASNet-1 and GASNet-Tools. It runs in shared memory, over Ethernet, libfabric or MPI."""

    homepage = "https://localhost/tombolo"
    url = "https://localhost/tombolo/releases/tombolo-0.1.0.tar.gz"
    git = "https://localhost/tombolo.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("fortran", default=True, description="coarray Fortran for gfortran")
    variant("upc", default=True, description="the UPC compiler")
    variant("ofi", default=True, description="the conduit over libfabric")
    variant("mpi", default=False, description="the conduit over MPI")
    variant("simgrid", default=False, description="the simulator behind 'tombolo sim'")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("llvm+clang", type="build")
    depends_on("jansson")
    depends_on("libpng")
    depends_on("fftw@3")
    depends_on("libfabric", when="+ofi")
    depends_on("mpi", when="+mpi")
    depends_on("simgrid", when="+simgrid")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("TMB_TESTS", False),
            self.define("TMB_PYTHON", False),
            self.define_from_variant("TMB_FORTRAN", "fortran"),
            self.define_from_variant("TMB_UPC", "upc"),
        ]

    build_targets = ["programs"]
