# SPDX-License-Identifier: BSD-3-Clause
# Fuzzers: tests/fuzz/<name>.c and .cc with libFuzzer, which only clang has. Each becomes the test
# fuzz.<name> (label "fuzz"): its kept corpus, tests/fuzz/corpus/<name>, then TMB_FUZZ_SECONDS of
# new inputs. What it finds lies in build/tests/fuzz. Without clang there are none.
if(NOT TMB_FUZZ)
  return()
endif()
set(TMB_FUZZ_SECONDS 5 CACHE STRING "Seconds that each fuzzer runs in a test")
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
  message(STATUS "tombolo: no clang with libFuzzer, so there are no fuzzers "
    "(packages clang and libclang-rt-*-dev)")
  add_test(NAME fuzz.none COMMAND sh -c "echo 'no clang with libFuzzer'; exit 77")
  set_tests_properties(fuzz.none PROPERTIES LABELS "fuzz" SKIP_RETURN_CODE 77)
endif()

# What agents speak: the tree of the command, and what it calls of the library.
file(GLOB_RECURSE tmb_agent_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/agent/*.c"
  "${PROJECT_SOURCE_DIR}/src/base/*.c" "${PROJECT_SOURCE_DIR}/src/os/*.c"
  "${PROJECT_SOURCE_DIR}/src/boot/*.c")
list(FILTER tmb_agent_sources EXCLUDE REGEX "_test\\.c$|/tools/agent/agent(_env)?\\.c$")

file(GLOB tmb_fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*.c")
if(tmb_fuzz_works)
  foreach(src IN LISTS tmb_fuzzers)
    get_filename_component(name "${src}" NAME_WE)
    set(program "${tmb_fuzz_dir}/${name}")
    if(name MATCHES "^agent")
      set(sources "${src}" ${tmb_agent_sources})
      file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/*.h"
        "${PROJECT_SOURCE_DIR}/src/boot/*.h")
    else()
      set(sources "${src}" ${tmb_udp_sources} ${tmb_alone_sources})
      file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/udp/*.h")
    endif()
    add_custom_command(OUTPUT "${program}"
      COMMAND "${TMB_CLANG}" -std=gnu17 -g -O1 -fsanitize=fuzzer,address,undefined
        -fno-sanitize-recover=all "-I${PROJECT_SOURCE_DIR}/src" "-I${PROJECT_SOURCE_DIR}/include"
        "-I${PROJECT_SOURCE_DIR}/tools"
        "-I${PROJECT_BINARY_DIR}/generated"
        -Wno-literal-conversion
        ${sources} -o "${program}" -lpthread -ldl -lm
      DEPENDS ${sources} ${headers} VERBATIM)
    add_custom_target(fuzz_${name} ALL DEPENDS "${program}")
    file(MAKE_DIRECTORY "${tmb_fuzz_dir}/found/${name}")
    add_test(NAME fuzz.${name} COMMAND "${program}" -max_total_time=${TMB_FUZZ_SECONDS}
      -max_len=4096 -detect_leaks=0 -print_final_stats=1 "-artifact_prefix=${tmb_fuzz_dir}/"
      "${tmb_fuzz_dir}/found/${name}" "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    set_tests_properties(fuzz.${name} PROPERTIES LABELS "fuzz" TIMEOUT 4000)
  endforeach()
endif()

# upc1, all of it but main().
if(tmb_fuzz_works AND TARGET upc1)
  set(name upc_parser)
  set(program "${tmb_fuzz_dir}/${name}")
  set(src "${PROJECT_SOURCE_DIR}/tests/fuzz/${name}")
  set(sources "${src}.cc" ${tmb_upc1_sources})
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/upc/compiler/*.h")
  add_custom_command(OUTPUT "${program}"
    COMMAND "${TMB_CLANG}" -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined
      -fno-sanitize=vptr,function -fno-sanitize-recover=all "-I${PROJECT_SOURCE_DIR}/upc"
      "-I${PROJECT_SOURCE_DIR}/upc/compiler"
      ${sources} -o "${program}" -lstdc++ -lm
    DEPENDS ${sources} ${headers} VERBATIM)
  add_custom_target(fuzz_${name} ALL DEPENDS "${program}")
  file(MAKE_DIRECTORY "${tmb_fuzz_dir}/found/${name}")
  add_test(NAME fuzz.${name} COMMAND "${program}" -max_total_time=${TMB_FUZZ_SECONDS}
    -max_len=2048 -detect_leaks=0 -rss_limit_mb=4096 -timeout=10 -print_final_stats=1
    "-dict=${src}.dict" "-artifact_prefix=${tmb_fuzz_dir}/" "${tmb_fuzz_dir}/found/${name}"
    "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  # The compiler never frees its tree: each input leaves one behind.
  set_tests_properties(fuzz.${name} PROPERTIES LABELS "fuzz" TIMEOUT 4000
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endif()
