# SPDX-License-Identifier: BSD-3-Clause
# Install rules of the Python package: beside the library, and the files of a wheel, which are the
# component `wheel` (bindings/python/pyproject.toml).
if(NOT TARGET python_core OR NOT TARGET tombolo_tool)
  return()
endif()
set(TMB_PYTHON_DIR "${CMAKE_INSTALL_LIBDIR}/python${TMB_PYTHON_VERSION}/site-packages" CACHE STRING
  "Folder below the prefix for the Python package")
install(TARGETS python_core LIBRARY DESTINATION "${TMB_PYTHON_DIR}/tombolo")
install(FILES ${tmb_py_files} DESTINATION "${TMB_PYTHON_DIR}/tombolo")
# Where the Python of Debian looks; the component `python` is the package python3-tombolo.
set(tmb_py_debian "lib/python3/dist-packages/tombolo")
install(TARGETS python_core LIBRARY DESTINATION ${tmb_py_debian} COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${tmb_py_files} DESTINATION ${tmb_py_debian} COMPONENT python EXCLUDE_FROM_ALL)
set_target_properties(tombolo_tool PROPERTIES INSTALL_RPATH "$ORIGIN/../_lib")
install(TARGETS python_core LIBRARY DESTINATION tombolo COMPONENT wheel EXCLUDE_FROM_ALL)
install(FILES ${tmb_py_files} DESTINATION tombolo COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS tombolo_tool RUNTIME DESTINATION tombolo/_bin
  COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS tombolo_shared LIBRARY DESTINATION tombolo/_lib
  COMPONENT wheel NAMELINK_SKIP EXCLUDE_FROM_ALL)
set(tmb_py_plugins tombolo_net_udp)
foreach(plugin tombolo_net_ofi tombolo_net_mpi_openmpi tombolo_net_mpi_mpich tombolo_check
    tombolo_replay)
  if(TARGET ${plugin})
    list(APPEND tmb_py_plugins ${plugin})
  endif()
endforeach()
install(TARGETS ${tmb_py_plugins} LIBRARY DESTINATION tombolo/_lib/tombolo
  COMPONENT wheel EXCLUDE_FROM_ALL)
if(TARGET tombolo_mk_cuda)
  list(APPEND tmb_py_plugins tombolo_mk_cuda)
  install(TARGETS tombolo_mk_cuda LIBRARY DESTINATION tombolo/_lib
    COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
# The command needs jansson, which a wheel cannot ask a system for.
foreach(path IN LISTS JANSSON_LINK_LIBRARIES)
  if(path MATCHES "/libjansson\\.so$")
    file(REAL_PATH "${path}" real)
    install(FILES "${real}" DESTINATION tombolo/_lib RENAME libjansson.so.4
      COMPONENT wheel EXCLUDE_FROM_ALL)
  endif()
endforeach()
add_custom_target(wheel_files)
add_dependencies(wheel_files python_core python_package tombolo_tool ${tmb_py_plugins})
