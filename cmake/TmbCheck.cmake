# SPDX-License-Identifier: BSD-3-Clause
# The checker of `tombolo run --check`: check/runtime/*.c -> lib/tombolo/tombolo-check.so, which is
# loaded before the program.
file(GLOB tmb_check_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/check/runtime/*.c")
tmb_add_plugin(tombolo_check tombolo-check ${tmb_check_sources})
set_target_properties(tombolo_check PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/tombolo")
target_include_directories(tombolo_check PRIVATE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(tombolo_check PRIVATE GEXX_NO_IDENT=1)
