# SPDX-License-Identifier: BSD-3-Clause
# Debian packages by CPack, one for each component of the installation: tombolo-lib, tombolo-dev,
# tombolo-tools, tombolo-fortran, tombolo-upc, tombolo-shmem, tombolo-doc, tombolo-mpi, tombolo-sim,
# python3-tombolo. By `make packages`. The files hold the prefix /usr, so they are installed there
# through DESTDIR.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tombolo)
set(CPACK_PACKAGE_VENDOR "Tombolo")
file(STRINGS "${PROJECT_SOURCE_DIR}/packaging/debian/maintainer" tmb_maintainer LIMIT_COUNT 1)
set(CPACK_PACKAGE_CONTACT "${tmb_maintainer}" CACHE STRING "Maintainer field of Debian packages")
execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" log -1 --format=%cD
  OUTPUT_VARIABLE TMB_PACKAGE_DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT TMB_PACKAGE_DATE)
  string(TIMESTAMP TMB_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/install/packages.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/packages.cmake" @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/generated/packages.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${CPACK_PRE_BUILD_SCRIPTS}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL lib dev doc)
# tmb_component(NAME CONDITION...): a package where the condition holds.
macro(tmb_component name)
  if(${ARGN})
    list(APPEND CPACK_COMPONENTS_ALL ${name})
  endif()
endmacro()
tmb_component(tools TARGET tombolo_tool)
tmb_component(mpi TMB_MPI_PLUGINS)
tmb_component(sim TARGET tombolo_sim)
tmb_component(fortran TARGET caf_shared)
tmb_component(upc TARGET upc1)
tmb_component(shmem TARGET shmem_shared)
tmb_component(python TARGET python_core AND TARGET tombolo_tool AND NOT TMB_PYTHON_FREE_THREADED)

# tmb_package(COMPONENT SECTION SUMMARY TEXT DEPENDS...)
# in DEPENDS: components of the same version.
function(tmb_package component section summary text)
  string(TOUPPER "${component}" upper)
  set(depends "")
  foreach(other IN LISTS ARGN)
    list(APPEND depends "tombolo-${other} (= ${PROJECT_VERSION})")
  endforeach()
  list(JOIN depends ", " depends)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "tombolo-${component}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${section}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
endfunction()
set(tmb_about "Tombolo is a communication layer for PGAS programs with the GASNet-EX API.")
tmb_package(lib libs "communication layer for PGAS programs: library"
  "${tmb_about}\nThis package has the shared library and its conduits.")
tmb_package(dev libdevel "communication layer for PGAS programs: headers"
  "${tmb_about}\nThis package has headers, the static library and build fragments." lib)
tmb_package(tools utils "communication layer for PGAS programs: commands"
  "${tmb_about}\nThis package has the command tombolo with its manual pages.")
tmb_package(fortran libdevel "communication layer for PGAS programs: coarrays"
  "${tmb_about}\nThis package has the library that gfortran needs for coarrays." dev tools)
tmb_package(upc libdevel "communication layer for PGAS programs: UPC"
  "${tmb_about}\nThis package has the UPC compiler and its libraries." dev tools)
tmb_package(shmem libdevel "communication layer for PGAS programs: OpenSHMEM"
  "${tmb_about}\nThis package has the OpenSHMEM library, its headers, oshcc.tombolo\n\
and oshrun.tombolo." dev tools)
tmb_package(doc doc "communication layer for PGAS programs: documents"
  "${tmb_about}\nThis package has documents and examples.")
tmb_package(mpi libs "communication layer for PGAS programs: conduit mpi"
  "${tmb_about}\nThis package has the conduits over Open MPI and MPICH." lib)
tmb_package(sim utils "communication layer for PGAS programs: simulator"
  "${tmb_about}\nThis package has the simulator behind 'tombolo sim'." tools)
tmb_package(python python "communication layer for PGAS programs: Python"
  "${tmb_about}\nThis package has the Python package tombolo." lib tools)
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tombolo)
string(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS ", python3 (>= 3.11), python3-numpy")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
# What a package is of little use without, but what a host that only runs programs does not need.
set(CPACK_DEBIAN_LIB_PACKAGE_RECOMMENDS "libsodium23")
set(CPACK_DEBIAN_LIB_PACKAGE_SUGGESTS "libfabric1")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev, pkg-config")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "openssh-client")
set(CPACK_DEBIAN_FORTRAN_PACKAGE_RECOMMENDS "gfortran")
set(CPACK_DEBIAN_UPC_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin | mpich")

# tmb_shlibs(COMPONENT TARGETS...): the package says of its libraries that they are its own, and has
# ldconfig called. CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS would write the same, but starts two
# processes for each of the 5000 files of tombolo-dev, which takes longer than everything else.
function(tmb_shlibs component)
  set(lines "")
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      get_target_property(name ${target} OUTPUT_NAME)
      get_target_property(version ${target} SOVERSION)
      string(APPEND lines "lib${name} ${version} tombolo-${component} (= ${PROJECT_VERSION})\n")
    endif()
  endforeach()
  set(file "${PROJECT_BINARY_DIR}/generated/${component}/shlibs")
  file(WRITE "${file}" "${lines}")
  string(TOUPPER "${component}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/packaging/debian/triggers" "${file}" PARENT_SCOPE)
endfunction()
tmb_shlibs(lib tombolo_shared)
tmb_shlibs(fortran caf_shared caf16_shared prif_shared)
tmb_shlibs(upc upc_shared upc_shared_wide)
tmb_shlibs(shmem shmem_shared)

set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm")

# Only packages have a copyright file for each component.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" RENAME copyright EXCLUDE_FROM_ALL
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/tombolo-${component}" COMPONENT ${component})
endforeach()

# What the linked libraries need, where Debian's tools can tell.
find_program(TMB_SHLIBDEPS dpkg-shlibdeps)
if(TMB_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  foreach(component DEV DOC) # links and pages, of which CPack would ask each what it is
    set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS OFF)
  endforeach()
endif()
include(CPack)
