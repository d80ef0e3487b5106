# SPDX-License-Identifier: BSD-3-Clause
# The study's programs: study/apps/NAME -> bench/NAME, in C, coarray Fortran and UPC. No one of them
# is part of `make build`, an installation or a package; the target `study` builds them all. A
# program whose library is missing is left out with a message.
if(NOT TMB_BENCH OR NOT TARGET tombolo_tool OR NOT EXISTS "${PROJECT_SOURCE_DIR}/study/apps")
  return()
endif()

# What computes is compiled as its peers are (study/compare/apps.py).
set(tmb_compute_options $<$<NOT:$<CONFIG:Debug>>:-O3> -ffp-contract=off)

# Applications written on links (study/lib/links.h): one source each.
foreach(name IN ITEMS pipeline stencil hash)
  tmb_bench_program(study ${name} "${PROJECT_SOURCE_DIR}/study/apps/${name}/${name}.c"
    LIB app.c links.c)
  target_compile_options(study__${name} PRIVATE ${tmb_compute_options})
endforeach()

# Applications on words and letters (study/lib/words.h).
foreach(name IN ITEMS bfs tree)
  file(GLOB tmb_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/study/apps/${name}/*.c")
  tmb_bench_program(study ${name} ${tmb_sources} LIB app.c links.c words.c)
endforeach()

# Hydrodynamics on links; snapshots as PNG where libpng is.
file(GLOB tmb_hydro CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/study/apps/hydro/*.c")
tmb_bench_program(study hydro ${tmb_hydro} LIB app.c links.c)
target_compile_options(study__hydro PRIVATE ${tmb_compute_options}) # the same bits everywhere
if(PkgConfig_FOUND)
  pkg_check_modules(PNG IMPORTED_TARGET libpng)
endif()
if(TARGET PkgConfig::PNG)
  target_link_libraries(study__hydro PRIVATE PkgConfig::PNG)
  target_compile_definitions(study__hydro PRIVATE TMB_HAVE_PNG=1)
else()
  message(STATUS "tombolo: no libpng: hydro draws no pictures")
endif()

if(PkgConfig_FOUND)
  pkg_check_modules(OPENBLAS IMPORTED_TARGET openblas)
endif()
if(OPENBLAS_FOUND)
  foreach(name IN ITEMS matmul cholesky)
    file(GLOB tmb_app_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/study/apps/${name}/*.c")
    tmb_bench_program(study ${name} ${tmb_app_sources} LIB app.c links.c)
    target_link_libraries(study__${name} PRIVATE PkgConfig::OPENBLAS)
  endforeach()
else()
  message(STATUS "tombolo: no OpenBLAS (package libopenblas-dev): no bench/matmul, cholesky")
endif()

file(GLOB tmb_ft_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/study/apps/ft/*.c")
list(FILTER tmb_ft_sources EXCLUDE REGEX "_test\\.c$")
if(PkgConfig_FOUND)
  pkg_check_modules(FFTW3 IMPORTED_TARGET fftw3)
endif()
if(tmb_ft_sources AND FFTW3_FOUND)
  tmb_client_program(study__ft bench ${tmb_ft_sources})
  target_link_libraries(study__ft PRIVATE PkgConfig::FFTW3)
elseif(tmb_ft_sources)
  message(STATUS "tombolo: FFTW 3 not found (package libfftw3-dev): bench/ft is left out")
endif()

# What `make study` builds; TmbStudyTests.cmake adds those in Fortran and UPC.
add_custom_target(study)
get_property(tmb_study DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER tmb_study INCLUDE REGEX "^study__")
set_target_properties(${tmb_study} PROPERTIES EXCLUDE_FROM_ALL TRUE)
add_dependencies(study ${tmb_study} programs)

# What `make demo` runs, and what a first program in C or C++ needs: compiling all `programs` takes
# more than twice as long. FT is left out without FFTW.
add_custom_target(demo)
add_dependencies(demo tombolo_tool tombolo_shared tombolo_net_udp bench__tombolo-bench-p2p
  bench__tombolo-bench-am bench__tombolo-bench-wake)
if(TARGET study__ft)
  add_dependencies(demo study__ft)
endif()
