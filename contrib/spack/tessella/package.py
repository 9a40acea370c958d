# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
"""Spack package of Tessella.

The folder contrib/spack is a part of a repository of Spack packages. In a clone:

    spack repo create tessella-repo
    cp -r contrib/spack/tessella tessella-repo/packages/
    spack repo add tessella-repo
    spack dev-build tessella@main
"""
from spack.package import *


class Tessella(CMakePackage, CudaPackage):
    """Discontinuous Galerkin methods on polygons and polyhedra for deal.II."""

    homepage = "https://www.dealii.org"

    version("main")

    variant("epetra", default=True,
            description="Functions for TrilinosWrappers on top of Epetra")
    variant("applications", default=True, description="Programs")

    depends_on("cxx", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("dealii@9.4:+mpi+metis+muparser")
    depends_on("dealii+trilinos", when="+epetra")
    depends_on("cuda@12:", when="+cuda")

    def cmake_args(self):
        args = [
            self.define("DEAL_II_DIR", self.spec["dealii"].prefix),
            self.define("TESSELLA_BUILD_TESTS", False),
            self.define_from_variant("TESSELLA_WITH_CUDA", "cuda"),
            self.define_from_variant("TESSELLA_WITH_EPETRA", "epetra"),
            self.define_from_variant("TESSELLA_BUILD_APPLICATIONS",
                                     "applications"),
        ]
        architectures = self.spec.variants["cuda_arch"].value
        if self.spec.satisfies("+cuda") and architectures[0] != "none":
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args
