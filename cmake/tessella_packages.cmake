# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

# Debian packages: "cpack -G DEB" in a build folder that was configured with
# "cmake --preset debian" makes libtessella0.1 (the library), libtessella-dev
# (headers and CMake files), tessella-tools (programs, parameter files, manual
# pages, completion) and libtessella-doc. Included at the end of CMakeLists.txt,
# after all installation rules.

set(series ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(library_package libtessella${series})
set(CPACK_PACKAGE_NAME tessella)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "Tessella developers")
set(CPACK_PACKAGE_CONTACT
  "Tessella developers <tessella-developers@lists.example.org>")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE.md)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL libtessella dev doc)
if(TESSELLA_BUILD_APPLICATIONS)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Programs need the library of the same package, which dpkg-shlibdeps looks for.
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})

# The change log of Debian's form is compressed without name and time.
set(debian ${CMAKE_CURRENT_BINARY_DIR}/debian)
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in
  ${debian}/changelog.Debian @ONLY)
set(changelog ${debian}/changelog.Debian)
if(TESSELLA_GZIP)
  execute_process(COMMAND ${TESSELLA_GZIP} -9nkf ${changelog})
  string(APPEND changelog ".gz")
endif()

# tessella_package(<component> <package> <section> <summary> <text>)
macro(tessella_package component package section summary text)
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${COMPONENT}_DESCRIPTION "${summary}\n${text}")
  # Each package has a copyright file and a change log of its own.
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright ${changelog}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endmacro()
set(polytopes "Tessella computes with discontinuous Galerkin methods on polygons and
polyhedra, which are groups of cells of a mesh of deal.II.")

tessella_package(libtessella ${library_package} libs
  "discontinuous Galerkin methods on polytopes - library"
  "${polytopes}\nThis package has the shared library.")
set(CPACK_DEBIAN_LIBTESSELLA_PACKAGE_SHLIBDEPS ON)
# CPack writes scripts that call ldconfig; Debian's way is a trigger. Packages of
# others find in "shlibs" which version of this one they need.
file(WRITE ${debian}/triggers "activate-noawait ldconfig\n")
file(WRITE ${debian}/shlibs "libtessella ${series} ${library_package} \
(>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBTESSELLA_PACKAGE_CONTROL_EXTRA
  "${debian}/triggers;${debian}/shlibs")

tessella_package(dev libtessella-dev libdevel
  "discontinuous Galerkin methods on polytopes - development files"
  "${polytopes}\nThis package has headers and CMake files for your own programs.")
# The installed CMake files want a deal.II at least as new as that of the build.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library_package} \
(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), \
libdeal.ii-dev (>= ${DEAL_II_PACKAGE_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libtessella-doc, tessella-tools")

tessella_package(doc libtessella-doc doc
  "discontinuous Galerkin methods on polytopes - documentation"
  "${polytopes}\nThis package has documents and tutorials.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)

tessella_package(tools tessella-tools science
  "discontinuous Galerkin methods on polytopes - programs"
  "${polytopes}\nThis package has programs that solve problems given in parameter
files, examples of such files, manual pages and completions for bash.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_TOOLS_DEPENDS libtessella)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "libtessella-doc, mpi-default-bin, gmsh")

include(CPack)
