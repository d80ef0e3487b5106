# SPDX-License-Identifier: BSD-3-Clause
# Record and replay of `tombolo run`: replay/runtime/*.c -> lib/tombolo/tombolo-replay.so, which is
# loaded before the program.
file(GLOB tmb_replay_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/replay/runtime/*.c")
tmb_add_plugin(tombolo_replay tombolo-replay ${tmb_replay_sources})
set_target_properties(tombolo_replay PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/tombolo")
target_include_directories(tombolo_replay PRIVATE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(tombolo_replay PRIVATE GEXX_NO_IDENT=1)
