# SPDX-License-Identifier: BSD-3-Clause
# Install rules: headers, libraries, the command, the CMake package, and the layout that programs
# written for other GASNet implementations look for: make fragments, pkg-config files, library names
# for each thread mode and launch scripts, all thin names over the one library. Files that hold the
# prefix are written at install time, so that `cmake --install --prefix` moves them too. Components
# are the Debian packages of TmbPackages.cmake: lib, dev, tools, fortran, upc, shmem, doc, and
# mpi and sim, which need much that few want.
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT dev FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(TARGETS tombolo_shared tombolo_static EXPORT tombolo-targets
  LIBRARY COMPONENT lib NAMELINK_COMPONENT dev ARCHIVE COMPONENT dev)
if(TARGET tombolo_tool)
  install(TARGETS tombolo_tool RUNTIME COMPONENT tools)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT tools FILES_MATCHING PATTERN "tombolo*.1")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT dev FILES_MATCHING PATTERN "*run*.1" PATTERN "tombolo*" EXCLUDE)
  find_program(TMB_COMPLETION_PYTHON python3)
  if(TMB_COMPLETION_PYTHON)
    set(tmb_completion "${PROJECT_BINARY_DIR}/completion")
    file(GLOB tmb_man CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/tombolo*.1")
    add_custom_command(OUTPUT "${tmb_completion}/_tombolo"
      BYPRODUCTS "${tmb_completion}/tombolo.bash" "${tmb_completion}/tombolo.fish"
      COMMAND "${TMB_COMPLETION_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/completion.py"
        "${tmb_completion}"
      DEPENDS "${PROJECT_SOURCE_DIR}/scripts/completion.py" ${tmb_man}
      COMMENT "Completion of bash, zsh and fish" VERBATIM)
    add_custom_target(completion ALL DEPENDS "${tmb_completion}/_tombolo")
    add_dependencies(installed completion)
    install(FILES "${tmb_completion}/tombolo.bash" RENAME tombolo
      DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT tools)
    install(FILES "${tmb_completion}/_tombolo"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT tools)
    install(FILES "${tmb_completion}/tombolo.fish"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT tools)
  else()
    message(STATUS "Tombolo: no completion for shells: python3 is needed for it")
  endif()
endif()
if(TARGET tombolo_sim)
  install(TARGETS tombolo_sim RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tombolo"
    COMPONENT sim)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/sim/machines"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/tombolo" COMPONENT sim)
endif()
# Each package that has libraries for clients has an export of its own: find_package takes what is
# there.
set(tmb_exports)
# tmb_runtime(NAME TARGET PART): sets tmb_NAME to 1 where TARGET is built, which is installed in the
# export PART, otherwise to 0.
macro(tmb_runtime name target part)
  set(tmb_${name} 0)
  if(TARGET ${target})
    set(tmb_${name} 1)
    list(APPEND tmb_exports ${part})
  endif()
endmacro()
tmb_runtime(caf caf_shared fortran)
tmb_runtime(prif prif_shared fortran)
tmb_runtime(upc upc1 upc)
tmb_runtime(shmem shmem_shared shmem)
if(tmb_caf)
  install(TARGETS caf_shared caf_static caf16_shared caf16_static EXPORT tombolo-fortran-targets
    LIBRARY COMPONENT fortran ARCHIVE COMPONENT fortran)
  install(DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo" COMPONENT fortran OPTIONAL)
endif()
if(tmb_prif)
  install(TARGETS prif_shared prif_static EXPORT tombolo-fortran-targets
    LIBRARY COMPONENT fortran ARCHIVE COMPONENT fortran)
endif()
if(tmb_upc)
  install(TARGETS upc_shared upc_static upc_shared_wide upc_static_wide
    EXPORT tombolo-upc-targets LIBRARY COMPONENT upc ARCHIVE COMPONENT upc)
  install(TARGETS upc1 RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tombolo" COMPONENT upc)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/upc/include"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo/upc" COMPONENT upc FILES_MATCHING PATTERN "*.h")
  install(FILES "${tmb_upc_support}/crt.o" "${tmb_upc_support}/crt_extern.o"
    "${tmb_upc_support}/crt_shared.o" "${tmb_upc_support}/crt_tentative.o"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo/upc" COMPONENT upc)
endif()
if(tmb_shmem)
  install(TARGETS shmem_shared shmem_static EXPORT tombolo-shmem-targets
    LIBRARY COMPONENT shmem ARCHIVE COMPONENT shmem)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/shmem/include/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tombolo-shmem" COMPONENT shmem
    FILES_MATCHING PATTERN "*.h")
  install(FILES "${tmb_pshmem}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tombolo-shmem"
    COMPONENT shmem)
  install(PROGRAMS "${PROJECT_BINARY_DIR}/bin/oshcc" "${PROJECT_BINARY_DIR}/bin/oshc++"
    "${PROJECT_BINARY_DIR}/bin/oshrun" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT shmem)
endif()
if(TARGET tombolo_mk_cuda)
  install(TARGETS tombolo_mk_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT lib)
endif()
install(TARGETS tombolo_check tombolo_replay
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo" COMPONENT tools)
install(TARGETS tombolo_check_client ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo/check"
  COMPONENT tools)
if(TMB_CHECK_INLINE)
  install(FILES ${TMB_CHECK_INLINE} DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo/check"
    COMPONENT tools)
endif()
install(TARGETS tombolo_net_udp LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo"
  COMPONENT lib)
if(TMB_MPI_PLUGINS)
  install(TARGETS ${TMB_MPI_PLUGINS} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo"
    COMPONENT mpi)
endif()
if(TARGET tombolo_net_ofi)
  install(TARGETS tombolo_net_ofi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/tombolo"
    COMPONENT lib)
endif()
get_property(tmb_targets DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS tmb_targets)
  if(target MATCHES "^bench__")
    set_target_properties(${target} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tombolo"
      COMPONENT tools)
  endif()
endforeach()

set(tmb_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tombolo")
install(EXPORT tombolo-targets NAMESPACE tombolo:: DESTINATION "${tmb_package_dir}"
  COMPONENT dev)
list(REMOVE_DUPLICATES tmb_exports)
foreach(part IN LISTS tmb_exports)
  install(EXPORT tombolo-${part}-targets NAMESPACE tombolo:: DESTINATION "${tmb_package_dir}"
    COMPONENT ${part})
endforeach()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/install/tombolo-config.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/tombolo-config.cmake" INSTALL_DESTINATION "${tmb_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/tombolo-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/generated/tombolo-config.cmake"
  "${PROJECT_BINARY_DIR}/generated/tombolo-config-version.cmake" DESTINATION "${tmb_package_dir}"
  COMPONENT dev)

# The conduits that clients may ask for by name; each gets its fragments (cmake/install/*.in). Those
# of ibv, aries and ucx are other names for ofi.
set(TMB_CONDUITS smp udp)
if(TARGET tombolo_net_ofi)
  list(APPEND TMB_CONDUITS ofi ibv aries ucx)
endif()
if(TMB_MPI_PLUGINS)
  list(APPEND TMB_CONDUITS mpi)
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/install/layout.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/layout.cmake" @ONLY)
install(SCRIPT "${PROJECT_BINARY_DIR}/generated/layout.cmake" COMPONENT dev)

# Documents and examples.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT doc FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "man" EXCLUDE
  PATTERN "book/theme" EXCLUDE) # it would be an empty folder
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  "${PROJECT_SOURCE_DIR}/SUPPORT.md" "${PROJECT_SOURCE_DIR}/SECURITY.md"
  "${PROJECT_SOURCE_DIR}/MAINTAINERS" "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc)
# Sources alone: the commands of the Book compile them where they are.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT doc FILES_MATCHING REGEX "/[^/]*[.][^/]*$"
  REGEX "[.](o|s?mod|json|html|btr)$" EXCLUDE)
