# SPDX-License-Identifier: BSD-3-Clause
# Fuzzers: tests/fuzz/<name>.c and .cc with libFuzzer, which only clang has. Each becomes the test
# fuzz.<name>.long (label "fuzz") of `make test-all`: its kept corpus, tests/fuzz/corpus/<name>,
# then TMB_FUZZ_LONG_SECONDS of new inputs. What it finds lies in build/tests/fuzz. `make test`
# gives each its corpus: unit.corpus.<name> in the tree of the address sanitizer, of whose objects
# it is linked, so that no source is compiled again. That tree lacks upc1: `make test` runs
# fuzz.upc_parser with TMB_FUZZ_SECONDS of new inputs, for upc1-checked (TmbUpcTests.cmake) needs
# the same objects. Without clang there are no fuzzers. Each source is compiled once for all, at
# -O1; upc1-checked runs four times as long at -O0.
file(GLOB tmb_fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*.c")
if(TMB_SANITIZE MATCHES "address" AND TARGET tmb_tool_objects AND "unit" IN_LIST TMB_TEST_FOLDERS)
  foreach(src IN LISTS tmb_fuzzers)
    get_filename_component(name "${src}" NAME_WE)
    set(program unit.corpus.${name})
    add_executable(${program} "${src}" "${PROJECT_SOURCE_DIR}/tests/fuzz/lib/corpus.c")
    target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/include"
      "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tools" "${PROJECT_BINARY_DIR}/generated")
    target_link_libraries(${program} PRIVATE tmb_warnings tombolo_static m)
    if(name MATCHES "^udp_")
      target_sources(${program} PRIVATE $<TARGET_OBJECTS:tombolo_net_udp_parts>)
    else()
      target_sources(${program} PRIVATE $<TARGET_OBJECTS:tmb_tool_objects>)
      target_link_libraries(${program} PRIVATE PkgConfig::JANSSON)
    endif()
    set_target_properties(${program} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/unit")
    add_test(NAME ${program} COMMAND ${program} "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    set_tests_properties(${program} PROPERTIES LABELS "unit;SEQ" TIMEOUT 120
      ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:abort_on_error=1")
  endforeach()
endif()

if(NOT TMB_FUZZ)
  return()
endif()
set(TMB_FUZZ_SECONDS 2 CACHE STRING "Seconds that each fuzzer runs in a test")
set(TMB_FUZZ_LONG_SECONDS 15 CACHE STRING "Seconds that each fuzzer runs in make test-all")
find_program(TMB_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
set(tmb_fuzz_dir "${PROJECT_BINARY_DIR}/tests/fuzz")
set(tmb_fuzz_works FALSE)
if(TMB_CLANG)
  file(WRITE "${tmb_fuzz_dir}/probe.c"
    "int LLVMFuzzerTestOneInput(const char *d, long n);\n"
    "int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }\n")
  execute_process(COMMAND "${TMB_CLANG}" -fsanitize=fuzzer,address "${tmb_fuzz_dir}/probe.c"
    -o "${tmb_fuzz_dir}/probe" RESULT_VARIABLE tmb_fuzz_rc OUTPUT_QUIET ERROR_QUIET)
  if(tmb_fuzz_rc EQUAL 0)
    set(tmb_fuzz_works TRUE)
  endif()
endif()
if(NOT tmb_fuzz_works)
  tmb_skip_all(fuzz "no clang with libFuzzer (packages clang and libclang-rt-dev)")
endif()


set(tmb_fuzz_checks -g1 -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
set(tmb_fuzz_c -std=gnu17 ${tmb_fuzz_checks} "-I${PROJECT_SOURCE_DIR}" "-I${PROJECT_SOURCE_DIR}/src"
  "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/tools"
  "-I${PROJECT_BINARY_DIR}/generated" -Wno-literal-conversion
  -Werror)
# upc1 casts no memory, and the address sanitizer reports an access through NULL: without these
# tests it is compiled in a fifth less time.
set(tmb_fuzz_cxx -std=c++17 ${tmb_fuzz_checks}
  -fno-sanitize=vptr,function,null,alignment,object-size
  "-I${PROJECT_SOURCE_DIR}/upc" "-I${PROJECT_SOURCE_DIR}/upc/compiler")

# tmb_fuzz_objects(OUT SOURCES...): an object of each source, in tests/fuzz/objects. A source that
# another call has named is not compiled again.
function(tmb_fuzz_objects out)
  set(objects "")
  foreach(src IN LISTS ARGN)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${src}")
    set(object "${tmb_fuzz_dir}/objects/${name}.o")
    get_filename_component(folder "${object}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    get_property(known GLOBAL PROPERTY tmb_fuzz_known)
    if(NOT object IN_LIST known)
      set(options ${tmb_fuzz_c})
      set(launcher ${CMAKE_C_COMPILER_LAUNCHER})
      if(src MATCHES "\\.cc$")
        set(options ${tmb_fuzz_cxx})
        set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
      endif()
      add_custom_command(OUTPUT "${object}"
        COMMAND ${launcher} "${TMB_CLANG}" ${options} -MD -MF "${object}.d" -c "${src}"
          -o "${object}"
        DEPENDS "${src}" DEPFILE "${object}.d" COMMENT "Fuzzers: ${name}" VERBATIM)
      set_property(GLOBAL APPEND PROPERTY tmb_fuzz_known "${object}")
    endif()
    list(APPEND objects "${object}")
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# tmb_add_fuzzer(NAME LIMITS DAILY SOURCES...): the fuzzer NAME, of which all sources are given;
# LIMITS are options of libFuzzer; DAILY: whether `make test` runs it, too.
function(tmb_add_fuzzer name limits daily)
  set(program "${tmb_fuzz_dir}/${name}")
  tmb_fuzz_objects(objects ${ARGN})
  add_custom_command(OUTPUT "${program}"
    COMMAND "${TMB_CLANG}" -fsanitize=fuzzer,address,undefined ${objects} -o "${program}"
      -lstdc++ -lpthread -ldl -lm
    DEPENDS ${objects} COMMENT "Fuzzers: ${name}" VERBATIM)
  set(tests fuzz.${name}.long)
  if(daily)
    add_custom_target(fuzz_${name} ALL DEPENDS "${program}")
    list(APPEND tests fuzz.${name})
  else()
    add_custom_target(fuzz_${name} DEPENDS "${program}")
    add_dependencies(nightly fuzz_${name})
  endif()
  file(MAKE_DIRECTORY "${tmb_fuzz_dir}/found/${name}")
  foreach(test IN LISTS tests)
    set(seconds ${TMB_FUZZ_SECONDS})
    set(labels fuzz)
    if(test MATCHES "\\.long$")
      set(seconds ${TMB_FUZZ_LONG_SECONDS})
      list(APPEND labels nightly)
    endif()
    add_test(NAME ${test} COMMAND "${program}" -max_total_time=${seconds} ${limits}
      -detect_leaks=0 -print_final_stats=1 "-artifact_prefix=${tmb_fuzz_dir}/"
      "${tmb_fuzz_dir}/found/${name}" "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT 4000)
  endforeach()
endfunction()

# What agents speak: the tree of the command, and what it calls of the library.
file(GLOB_RECURSE tmb_agent_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/agent/*.c"
  "${PROJECT_SOURCE_DIR}/src/base/*.c" "${PROJECT_SOURCE_DIR}/src/os/*.c"
  "${PROJECT_SOURCE_DIR}/src/boot/*.c")
list(FILTER tmb_agent_sources EXCLUDE REGEX "_test\\.c$|/tools/agent/agent(_env)?\\.c$")

# What reads traces: `tombolo view` without its page, and what it calls of the library.
file(GLOB_RECURSE tmb_trace_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/view/*.c" "${PROJECT_SOURCE_DIR}/src/base/*.c"
  "${PROJECT_SOURCE_DIR}/src/os/*.c")
list(FILTER tmb_trace_sources EXCLUDE REGEX "_test\\.c$|/view/(view|page|assets)\\.c$")

if(tmb_fuzz_works)
  foreach(src IN LISTS tmb_fuzzers)
    get_filename_component(name "${src}" NAME_WE)
    if(name MATCHES "^agent")
      tmb_add_fuzzer(${name} -max_len=4096 FALSE "${src}" ${tmb_agent_sources})
    elseif(name MATCHES "^trace")
      tmb_add_fuzzer(${name} -max_len=4096 FALSE "${src}" ${tmb_trace_sources})
    else()
      tmb_add_fuzzer(${name} -max_len=4096 FALSE "${src}" ${tmb_udp_sources} ${tmb_alone_sources})
    endif()
  endforeach()
endif()

# upc1, all of it but main().
if(tmb_fuzz_works AND TARGET upc1)
  set(src "${PROJECT_SOURCE_DIR}/tests/fuzz/upc_parser")
  set(sources ${tmb_upc1_sources})
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  tmb_add_fuzzer(upc_parser
    "-max_len=2048;-rss_limit_mb=4096;-timeout=10;-dict=${src}.dict" TRUE "${src}.cc" ${sources})
  # The compiler never frees its tree: each input leaves one behind.
  set_tests_properties(fuzz.upc_parser fuzz.upc_parser.long PROPERTIES
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endif()
