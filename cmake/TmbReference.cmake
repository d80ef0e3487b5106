# SPDX-License-Identifier: BSD-3-Clause
# Reference pages, by scripts/reference.py from the headers: build/reference/man, which is
# installed, and build/reference/web, Markdown for the book. Needs clang, which says what the
# headers declare; without it there are no such pages, and the configuration says so.
find_program(TMB_REFERENCE_CLANG clang)
find_program(TMB_REFERENCE_PYTHON python3)
set(tmb_reference "${PROJECT_BINARY_DIR}/reference")
if(TMB_REFERENCE_CLANG AND TMB_REFERENCE_PYTHON)
  file(GLOB_RECURSE tmb_reference_from CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/include/*.h" "${PROJECT_SOURCE_DIR}/include/*.def"
    "${PROJECT_SOURCE_DIR}/upc/include/*.h" "${PROJECT_SOURCE_DIR}/examples/*.upc"
    "${PROJECT_SOURCE_DIR}/examples/*.f90" "${PROJECT_SOURCE_DIR}/examples/*.cc"
    "${PROJECT_SOURCE_DIR}/prif/fortran/*"
    "${PROJECT_SOURCE_DIR}/shmem/include/*.h"
    "${PROJECT_SOURCE_DIR}/include/*.hpp" "${PROJECT_SOURCE_DIR}/bindings/python/src/*.py*"
    "${PROJECT_SOURCE_DIR}/coarray/fortran/*.f90"
    "${PROJECT_SOURCE_DIR}/scripts/reference*.py" "${PROJECT_SOURCE_DIR}/examples/*.c"
    "${PROJECT_SOURCE_DIR}/src/base/*.def" "${PROJECT_SOURCE_DIR}/src/base/messages/*.def")
  add_custom_command(OUTPUT "${tmb_reference}/stamp"
    COMMAND ${CMAKE_COMMAND} -E rm -rf "${tmb_reference}"
    COMMAND ${TMB_REFERENCE_PYTHON} "${PROJECT_SOURCE_DIR}/scripts/reference.py"
      --man "${tmb_reference}/man" --web "${tmb_reference}/web"
    COMMAND ${CMAKE_COMMAND} -E touch "${tmb_reference}/stamp"
    DEPENDS ${tmb_reference_from} COMMENT "Reference pages of the headers" VERBATIM)
  add_custom_target(reference ALL DEPENDS "${tmb_reference}/stamp")
  add_dependencies(installed reference)
  # Of the files of an installation 2,500 are these. Tests of other things leave them out.
  install(CODE "if(NOT \"\$ENV{TMB_INSTALL_PAGES}\" STREQUAL \"no\")
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}\" TYPE DIRECTORY
      FILES \"${tmb_reference}/man/\")
  endif()" COMPONENT dev)
else()
  message(STATUS "Tombolo: no reference pages: clang and python3 are needed for them")
endif()
