# SPDX-License-Identifier: BSD-3-Clause
# Tests, each labelled by its folder: unit (src/**/*_test.c, cmocka, linked with libtombolo.a so
# that hidden symbols are seen), conformance, multi and fault (tests/<folder>/*, run under
# `tombolo run` at several rank counts).

include(TmbSelect)

# What limits of time are multiplied by: QEMU takes 5 to 20 times as long, compilers under it too.
# Sanitizers and stopped threads take 2 to 10 times, at low priority under others (run_tests.py).
set(tmb_time_factor 1)
if(CMAKE_CROSSCOMPILING)
  set(tmb_time_factor 8)
elseif(TMB_SANITIZE OR TMB_PREEMPT)
  set(tmb_time_factor 4)
endif()

# In a tree of clang, tests that compile programs do so by clang, too.
set(tmb_test_compilers "")
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  set(tmb_test_compilers "TMB_CC=${CMAKE_C_COMPILER}" "TMB_CXX=${CMAKE_CXX_COMPILER}"
    "TOMBOLO_UPC_CC=${CMAKE_C_COMPILER}")
endif()

# tmb_skip_all(LABEL REASON [BEGIN]): stands for the tests of a label, whose names begin with BEGIN,
# that this system cannot build. scripts/seeds.py knows by it which tests are left out.
function(tmb_skip_all label reason)
  set(begin "${label}")
  if(ARGC GREATER 2)
    set(begin "${ARGV2}")
  endif()
  message(STATUS "tombolo: ${reason}: tests ${begin}.* are left out")
  add_test(NAME ${begin}.none COMMAND sh -c "echo '${reason}'; exit 77")
  set_tests_properties(${begin}.none PROPERTIES LABELS "${label};check" SKIP_RETURN_CODE 77)
endfunction()

# ---- unit tests
# Some wait in a loop for a variable that others change through a pointer. clang warns of the loop.
add_library(tmb_unit_warnings INTERFACE)
target_compile_options(tmb_unit_warnings INTERFACE
  $<$<COMPILE_LANG_AND_ID:C,Clang>:-Wno-for-loop-analysis>)

# tmb_add_unit_test(NAME SOURCE [SOURCES...]): a cmocka program; SOURCES, or objects, are linked
# with it. With `/* long: ARGUMENT */` it is also run with that argument, as NAME.long with the
# label "nightly"; under QEMU with that of `/* emulated: ARGUMENT */`, if there is one. At -O1 -g1
# it is compiled in half the time of -O2 -g. At -O0 those of udp run a third longer with the
# sanitizers.
function(tmb_add_unit_test name src)
  tmb_read_header(hdr ${src})
  if(NOT "unit" IN_LIST TMB_TEST_FOLDERS OR NOT hdr_mode IN_LIST TMB_TEST_MODES
     OR NOT CMOCKA_FOUND)
    return()
  endif()
  add_executable(unit.${name} ${src} ${ARGN})
  set_target_properties(unit.${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/unit")
  target_include_directories(unit.${name} PRIVATE "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tools" "${PROJECT_BINARY_DIR}/generated")
  target_link_libraries(unit.${name} PRIVATE tmb_warnings tmb_unit_warnings tombolo_static
    PkgConfig::CMOCKA m)
  target_compile_options(unit.${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>
    $<$<CONFIG:RelWithDebInfo>:-g1> ${tmb_few_paths})
  add_test(NAME unit.${name} COMMAND unit.${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;${hdr_mode};check"
    TIMEOUT ${hdr_timeout} COST ${hdr_timeout} SKIP_RETURN_CODE 77)
  if(CMAKE_CROSSCOMPILING AND hdr_emulated)
    set(hdr_long "${hdr_emulated}")
  endif()
  if(hdr_long)
    add_test(NAME unit.${name}.long COMMAND unit.${name} ${hdr_long})
    set_tests_properties(unit.${name}.long PROPERTIES LABELS "unit;${hdr_mode};nightly"
      TIMEOUT ${hdr_timeout} COST ${hdr_timeout} SKIP_RETURN_CODE 77)
  endif()
endfunction()

pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(CMOCKA_VERSION VERSION_GREATER_EQUAL 2) # it deprecates assert_in_range for what 1 does not have
  target_compile_options(tmb_unit_warnings INTERFACE -Wno-deprecated-declarations)
endif()
if(NOT CMOCKA_FOUND AND "unit" IN_LIST TMB_TEST_FOLDERS)
  tmb_skip_all(unit "no cmocka (package libcmocka-dev)")
endif()
file(GLOB_RECURSE tmb_unit_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*_test.c")
foreach(src IN LISTS tmb_unit_sources)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/src" "${src}")
  string(REGEX REPLACE "_test\\.c$" "" name "${name}")
  string(REPLACE "/" "." name "${name}")
  if(name MATCHES "^net\\.(udp|plugin)\\.") # plug-ins, no part of the library
    tmb_add_unit_test(${name} ${src} $<TARGET_OBJECTS:tombolo_net_udp_parts>)
  elseif(name MATCHES "^net\\.ofi\\.")
    if(TARGET tombolo_net_ofi)
      tmb_add_unit_test(${name} ${src} $<TARGET_OBJECTS:tombolo_net_ofi_parts>)
      if(TARGET unit.${name})
        target_include_directories(unit.${name} SYSTEM PRIVATE "${TMB_OFI_INCLUDE}")
      endif()
    endif()
  else()
    tmb_add_unit_test(${name} ${src})
  endif()
endforeach()

# The declarations of PMIx are compared with its header where that is installed.
pkg_check_modules(TMB_PMIX QUIET pmix)
if(TMB_PMIX_FOUND AND TARGET unit.boot.pm.pm)
  target_include_directories(unit.boot.pm.pm SYSTEM PRIVATE ${TMB_PMIX_INCLUDE_DIRS})
endif()

# Programs that have libtombolo.a find the conduits and libraries of this tree, not those of an
# installation: beside them, and in ../lib.
set(tmb_tests_folder "${PROJECT_BINARY_DIR}/tests")
file(MAKE_DIRECTORY "${tmb_tests_folder}/unit" "${tmb_tests_folder}/inside")
foreach(name unit/tombolo inside/tombolo)
  file(CREATE_LINK "${PROJECT_BINARY_DIR}/lib/tombolo" "${tmb_tests_folder}/${name}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${PROJECT_BINARY_DIR}/lib" "${tmb_tests_folder}/lib" SYMBOLIC)

# Unit tests of the command get what it has, less its main.
file(GLOB_RECURSE tmb_tool_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/*_test.c")
foreach(src IN LISTS tmb_tool_tests)
  get_filename_component(name "${src}" NAME_WE)
  tmb_add_unit_test(tools.${name} ${src} $<TARGET_OBJECTS:tmb_tool_objects>)
  if(TARGET unit.tools.${name})
    target_link_libraries(unit.tools.${name} PRIVATE PkgConfig::JANSSON)
  endif()
endforeach()
# Not by __FILE__: an object that a shared ccache has may be of another folder.
if(TARGET unit.tools.info_test)
  target_compile_definitions(unit.tools.info_test PRIVATE
    "TMB_SETTINGS_PAGE=\"${PROJECT_SOURCE_DIR}/docs/SETTINGS.md\"")
endif()

# ---- a kind of memory that simulates a device
add_library(mk_sim MODULE "${PROJECT_SOURCE_DIR}/tests/plugin/mk_sim.c")
target_include_directories(mk_sim PRIVATE "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(mk_sim PRIVATE GASNET_PAR=1)
target_link_libraries(mk_sim PRIVATE tmb_warnings Threads::Threads)
set_target_properties(mk_sim PROPERTIES PREFIX "lib" OUTPUT_NAME tombolo-mk-sim SUFFIX ".so"
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/plugin")

# ---- a conduit that refuses to send, for tests/multi/conduit_missing.sh
# net_old is of another version of the interface, net_asks only of the settings
foreach(tmb_net net_refuses net_old net_asks)
  add_library(${tmb_net} MODULE "${PROJECT_SOURCE_DIR}/tests/plugin/net_refuses.c")
  target_include_directories(${tmb_net} PRIVATE "${PROJECT_SOURCE_DIR}/src"
    "${PROJECT_SOURCE_DIR}/include")
  target_compile_definitions(${tmb_net} PRIVATE GASNET_PAR=1)
  target_link_libraries(${tmb_net} PRIVATE tmb_warnings)
  set_target_properties(${tmb_net} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/plugin")
endforeach()
target_compile_definitions(net_old PRIVATE ABI_AGE=1)
target_compile_definitions(net_asks PRIVATE ASKS_FOR="TOMBOLO_UDP_BYGONE")

# ---- a CUDA driver without a device
if(TMB_CUDA)
  add_library(cuda_mock SHARED "${PROJECT_SOURCE_DIR}/tests/plugin/cuda_mock.c")
  target_include_directories(cuda_mock PRIVATE "${PROJECT_SOURCE_DIR}/plugins/cuda")
  target_link_libraries(cuda_mock PRIVATE tmb_warnings Threads::Threads)
  set_target_properties(cuda_mock PROPERTIES PREFIX "lib" OUTPUT_NAME cuda SUFFIX ".so.1"
    C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/plugin/cuda")
endif()

# ---- a command without features of the kernel, for tests/multi/absent.py
add_executable(refuse "${PROJECT_SOURCE_DIR}/tests/absent/refuse.c")
set_target_properties(refuse PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/absent")
target_link_libraries(refuse PRIVATE tmb_warnings)
add_library(no_segments MODULE "${PROJECT_SOURCE_DIR}/tests/absent/no_segments.c")
set_target_properties(no_segments PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/absent")
target_link_libraries(no_segments PRIVATE tmb_warnings ${CMAKE_DL_LIBS})

# ---- multi-rank tests
file(GLOB tmb_test_lib CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/lib/*.c")
# tests/lib compiled for one thread mode, debug setting and library (client), as the programs that
# link it are.
function(tmb_test_support out mode debug client)
  set(lib tmb_test_support_${mode})
  if(debug)
    string(APPEND lib "_debug")
  endif()
  if(NOT client STREQUAL "tmb_client")
    string(APPEND lib "_inside")
  endif()
  if(NOT TARGET ${lib})
    add_library(${lib} STATIC ${tmb_test_lib})
    target_include_directories(${lib} PUBLIC
      "${PROJECT_SOURCE_DIR}/tests/lib" "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(${lib} PUBLIC GASNET_${mode}=1)
    if(debug)
      target_compile_definitions(${lib} PUBLIC GASNET_DEBUG=1)
    endif()
    target_link_libraries(${lib} PUBLIC tmb_warnings ${client} m)
  endif()
  set(${out} ${lib} PARENT_SCOPE)
endfunction()

# Registers the runs of a program: its rank counts, cases and settings, as the caller's hdr_ says.
# Sets tmb_daily in the caller's scope: whether one of them is a run of `make test`.
function(tmb_register_program name label program)
  tmb_reduce_ranks(ranks ${hdr_ranks})
  list(LENGTH hdr_again settings_count)
  set(tmb_daily FALSE)
  set(cases ${hdr_cases})
  set(case_start 0)
  if(NOT cases)
    set(cases "-")
    set(case_start -1)
  endif()
  set(plain_env "${hdr_env}")
  set(setting 0)
  foreach(again IN ITEMS "-" LISTS hdr_again)
    set(variant "")
    set(hdr_env "${plain_env}")
    set(all_env "${again} ${hdr_env}")
    # Hosts without a named conduit use udp.
    if(TMB_SANITIZE AND ("${all_env}" MATCHES "CONDUIT=udp" OR
        ("${all_env}" MATCHES "PLACES=" AND NOT "${all_env}" MATCHES "CONDUIT=")))
      if(TMB_SANITIZE STREQUAL "thread")
        continue() # threads of one process are what it sees
      endif()
      # The plug-in is not found from a program that holds the library.
      list(APPEND hdr_env "TOMBOLO_NET_PLUGIN=$<TARGET_FILE:tombolo_net_udp>")
    endif()
    if(NOT again STREQUAL "-")
      string(REPLACE "+" ";" settings "${again}")
      list(APPEND hdr_env ${settings})
      string(TOLOWER "${again}" variant)
      string(REGEX REPLACE "^tombolo_" "" variant "${variant}")
      string(REGEX REPLACE "[^a-z0-9_]+" "-" variant ".${variant}")
      string(REGEX REPLACE "^-" "." variant "${variant}")
    endif()
    set(case_at ${case_start})
    foreach(case IN LISTS cases)
      tmb_choose_counts(chosen ${name} ${setting} ${case_at} ${settings_count} ${ranks})
      if(hdr_nightly)
        set(chosen "")
      elseif(chosen)
        set(tmb_daily TRUE)
      endif()
      foreach(n IN LISTS ranks)
        set(test ${name}${variant}.n${n})
        set(args ${hdr_args})
        if(NOT case STREQUAL "-")
          set(test ${name}${variant}.${case}.n${n})
          list(PREPEND args ${case})
        endif()
        math(EXPR tmb_run_limit "${hdr_timeout} * ${tmb_time_factor}")
        set(command $<TARGET_FILE:tombolo_tool> run -n ${n} --timeout ${tmb_run_limit}
          ${hdr_launch} --
          ${program} ${args})
        tmb_selection_labels(selection ${n} ${setting} ${case_at} "${chosen}")
        tmb_register_run(${test} "${label};${selection}" "${command}")
      endforeach()
      math(EXPR case_at "${case_at} + 1")
    endforeach()
    math(EXPR setting "${setting} + 1")
  endforeach()
  set(tmb_daily ${tmb_daily} PARENT_SCOPE)
endfunction()

# Registers far.NAME: a conformance program whose ranks are on pretended hosts, between which only
# the loop conduit goes. Two ranks, one a host; four, alternating, so that each rank has near and
# far peers; of programs that do not take four, three on unequal hosts. `make test` runs the latter,
# and two ranks of programs that take no more.
function(tmb_register_far name program)
  if("${hdr_env}" MATCHES "TOMBOLO_PLACES" OR hdr_debug OR TMB_SANITIZE OR NOT hdr_far)
    return()
  endif()
  set(plain_env "${hdr_env}")
  set(hdr_again "")
  foreach(place "2=2" "3=0,0,1" "4=cyclic:2")
    string(REGEX MATCH "^([0-9]+)=(.*)$" unused "${place}")
    set(n ${CMAKE_MATCH_1})
    set(places ${CMAKE_MATCH_2})
    if(n IN_LIST hdr_ranks AND NOT (n EQUAL 3 AND "4" IN_LIST hdr_ranks))
      set(hdr_env "${plain_env};TOMBOLO_CONDUIT=loop;TOMBOLO_PLACES=${places}")
      set(saved "${hdr_ranks}")
      set(saved_nightly "${hdr_nightly}")
      if(n EQUAL 2 AND ("3" IN_LIST hdr_ranks OR "4" IN_LIST hdr_ranks))
        set(hdr_nightly yes)
      endif()
      set(hdr_ranks ${n})
      tmb_register_program(far.${name} far ${program})
      set(hdr_ranks "${saved}")
      set(hdr_nightly "${saved_nightly}")
    endif()
  endforeach()
endfunction()

# Sets OUT to how a program of tests/ is compiled: its compilation takes longer than its run. With
# optimisation users' programs are compiled in examples/ and bench/. All that a debugger can show
# (-g) takes a third of the time; the build type Debug has it.
function(tmb_test_options out)
  set(level -O1)
  if(TMB_SANITIZE OR TMB_PREEMPT)
    set(level -O0)
  endif()
  set(${out} $<$<CONFIG:RelWithDebInfo>:${level}> $<$<CONFIG:RelWithDebInfo>:-g1>
    ${tmb_few_paths} PARENT_SCOPE)
endfunction()

# tmb_add_multi_test(NAME SOURCE [RANKS n...] [LABEL label]): one program, one ctest for each rank
# count. RANKS is what a source without a `/* ranks: */` line gets. A source that says `debug: both`
# also becomes NAME_debug, a debug client, run at two ranks.
function(tmb_add_multi_test name src)
  cmake_parse_arguments(arg "DEBUG" "LABEL" "RANKS" ${ARGN})
  tmb_read_header(hdr ${src})
  if(NOT hdr_mode IN_LIST TMB_TEST_MODES)
    return()
  endif()
  if(hdr_debug STREQUAL "both")
    set(hdr_debug "")
    if(arg_DEBUG)
      set(hdr_debug "yes")
      set(hdr_ranks 2)
      set(hdr_again "")
      tmb_twin_is_nightly(hdr_nightly ${name} 1)
    else()
      tmb_add_multi_test(${name}_debug ${src} DEBUG ${ARGN})
      tmb_twin_is_nightly(hdr_nightly ${name}_debug 0)
    endif()
  endif()
  set(target ${arg_LABEL}.${name})
  tmb_test_options(options)
  set(client tmb_client)
  if(arg_LABEL STREQUAL "inside")
    set(client tombolo_static)
  endif()
  tmb_test_support(support ${hdr_mode} "${hdr_debug}" ${client})
  add_executable(${target} ${src})
  if(arg_LABEL STREQUAL "inside")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/${arg_LABEL}")
  target_link_libraries(${target} PRIVATE ${support})
  target_compile_options(${target} PRIVATE ${options})
  if(NOT TARGET tombolo_tool)
    return()
  endif()
  if(NOT hdr_ranks)
    set(hdr_ranks ${arg_RANKS})
  endif()
  tmb_register_program(${target} ${arg_LABEL} $<TARGET_FILE:${target}>)
  if(NOT tmb_daily)
    tmb_build_nightly(${target})
  endif()
  if(arg_LABEL STREQUAL "conformance")
    tmb_register_far(${name} $<TARGET_FILE:${target}>)
  endif()
endfunction()

# Keeps the counts that TMB_TEST_RANKS allows, and at least the smallest one above 1, for a test of
# one rank alone says little; all counts where TMB_TEST_RANKS is empty. The thread sanitizer does
# not see what another process orders, so under it a single rank is right.
function(tmb_reduce_ranks out)
  set(kept "")
  set(sorted ${ARGN})
  list(SORT sorted COMPARE NATURAL)
  set(peers FALSE)
  if(TMB_SANITIZE STREQUAL "thread")
    set(peers TRUE)
  endif()
  foreach(n IN LISTS sorted)
    if(NOT TMB_TEST_RANKS OR n IN_LIST TMB_TEST_RANKS)
      list(APPEND kept ${n})
      if(n GREATER 1)
        set(peers TRUE)
      endif()
    endif()
  endforeach()
  if(NOT peers)
    foreach(n IN LISTS sorted)
      if(n GREATER 1)
        list(APPEND kept ${n})
        break()
      endif()
    endforeach()
  endif()
  if(NOT kept)
    list(GET sorted 0 kept)
  endif()
  set(${out} ${kept} PARENT_SCOPE)
endfunction()

# Registers a command with the labels `label` (a list); `expect:` (exit code) and `match:` (text
# that must appear) go through scripts/expect.py. What may take long begins first.
macro(tmb_register_run test label command)
  set(full ${command})
  if(NOT hdr_expect STREQUAL "0" OR NOT hdr_match STREQUAL "")
    set(full python3 ${PROJECT_SOURCE_DIR}/scripts/expect.py
      "--code=${hdr_expect}" "--match=${hdr_match}" --
      ${command})
  endif()
  add_test(NAME ${test} COMMAND ${full})
  math(EXPR ctest_timeout "2 * ${hdr_timeout} + 15") # a script has more, a run ends itself before
  set(labels ${label} ${hdr_mode})
  if(hdr_nightly)
    list(APPEND labels nightly)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${ctest_timeout}
    COST ${hdr_timeout} SKIP_RETURN_CODE 77
    ENVIRONMENT "TOMBOLO=$<TARGET_FILE:tombolo_tool>;TMB_BUILD=${PROJECT_BINARY_DIR};\
${tmb_test_compilers};${hdr_env}")
endmacro()

if(NOT TARGET tombolo_tool)
  message(STATUS "tombolo: no tombolo command yet: multi-rank tests are built but not registered")
endif()
foreach(dir conformance inside multi fault)
  if(NOT dir IN_LIST TMB_TEST_FOLDERS)
    continue()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/tests/${dir}/*.c" "${PROJECT_SOURCE_DIR}/tests/${dir}/*.cc")
  foreach(src IN LISTS sources)
    get_filename_component(name "${src}" NAME_WE)
    tmb_add_multi_test(${name} ${src} LABEL ${dir} RANKS 1 2 3 4 7)
  endforeach()
  # Scripts drive the command themselves: $TOMBOLO is the command, $TMB_BUILD the build tree.
  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/tests/${dir}/*.sh" "${PROJECT_SOURCE_DIR}/tests/${dir}/*.py")
  # Those that compile clients of their own would do so without the sanitizer.
  foreach(script IN LISTS scripts)
    if(TARGET tombolo_tool AND NOT TMB_SANITIZE)
      get_filename_component(name "${script}" NAME_WE)
      tmb_read_header(hdr ${script})
      set(shell bash)
      if(script MATCHES "\\.py$")
        set(shell python3)
      endif()
      if(NOT hdr_cases)
        tmb_register_run(${dir}.${name} ${dir} "${shell};${script}")
      endif()
      foreach(case IN LISTS hdr_cases)
        tmb_register_run(${dir}.${name}.${case} ${dir} "${shell};${script};${case}")
      endforeach()
    endif()
  endforeach()
endforeach()
# The address sanitizer sees the progress threads of the other conduits, too.
foreach(conduit ofi mpi_mpich)
  if(NOT TMB_SANITIZE MATCHES "address" OR NOT TARGET conformance.computing_later
     OR NOT TARGET tombolo_tool OR NOT TARGET tombolo_net_${conduit})
    continue()
  endif()
  string(REGEX REPLACE "_.*" "" name ${conduit})
  tmb_read_header(hdr "${PROJECT_SOURCE_DIR}/tests/conformance/progress/computing_later.c")
  # MPICH keeps memory when it ends. The sanitizer takes addresses of another process, which UCX
  # reads by process_vm_readv, for its own.
  set(hdr_env TOMBOLO_PLACES=cyclic:7 TOMBOLO_CONDUIT=${name} TOMBOLO_MPI=mpich
    TOMBOLO_MPI_THREAD=MULTIPLE ASAN_OPTIONS=detect_leaks=0 UCX_TLS=^cma
    TOMBOLO_NET_PLUGIN=$<TARGET_FILE:tombolo_net_${conduit}>)
  foreach(case IN LISTS hdr_cases)
    tmb_register_run(conformance.computing_later.${name}.${case}.n3 conformance
      "$<TARGET_FILE:tombolo_tool>;run;-n;3;--timeout;60;--;\
$<TARGET_FILE:conformance.computing_later>;${case}")
  endforeach()
endforeach()
# Scripts of UPC drive it, too, in trees without tests of faults (those for other processors).
if(TMB_UPC AND NOT TARGET fault.victim AND "conformance" IN_LIST TMB_TEST_FOLDERS)
  tmb_add_multi_test(victim "${PROJECT_SOURCE_DIR}/tests/fault/victim.c" LABEL fault RANKS 4)
endif()

# ---- examples and benchmarks run too
if(TARGET tombolo_tool AND NOT TMB_SANITIZE)
  foreach(src IN LISTS tmb_example_sources)
    get_filename_component(name "${src}" NAME_WE)
    tmb_read_header(hdr ${src} RANKS 1 2 4)
    foreach(n IN LISTS hdr_ranks)
      tmb_register_run(examples.${name}.n${n} examples "$<TARGET_FILE:tombolo_tool>;run;-n;${n};\
--timeout;${hdr_timeout};${hdr_launch};--;$<TARGET_FILE:examples__${name}>;${hdr_args}")
    endforeach()
  endforeach()

  tmb_read_header(hdr)
  set(hdr_timeout 120)
  tmb_register_run(bench.quick bench "$<TARGET_FILE:tombolo_tool>;bench;--quick")
  tmb_register_run(bench.report bench "python3;${PROJECT_SOURCE_DIR}/tests/bench/bench_report.py")
  tmb_register_run(bench.help bench "python3;${PROJECT_SOURCE_DIR}/tests/bench/help.py")
  tmb_register_run(bench.loggp bench "python3;${PROJECT_SOURCE_DIR}/tests/bench/loggp.py")
  if(NOT TMB_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    tmb_register_run(bench.strings bench "python3;${PROJECT_SOURCE_DIR}/tests/bench/strings.py")
  endif()
  tmb_register_run(bench.counts bench
    "python3;${PROJECT_SOURCE_DIR}/scripts/count_paths.py;--build;${PROJECT_BINARY_DIR};--check")
endif()

# ---- checks of the sources and of what is installed
# tmb_add_check(NAME LABEL COMMAND...): a test that is a script.
function(tmb_add_check name label)
  add_test(NAME ${label}.${name} COMMAND ${ARGN})
  set(labels ${label})
  if(label STREQUAL "lint")
    list(APPEND labels check)
  endif()
  set_tests_properties(${label}.${name} PROPERTIES LABELS "${labels}" TIMEOUT 300 COST 100
    SKIP_RETURN_CODE 77)
endfunction()

# tmb_add_kept_check(NAME SCRIPT ARGUMENTS...): a Python script of `lint` that runs again only when
# something that it reads has changed.
function(tmb_add_kept_check name)
  tmb_add_check(${name} lint python3 ${PROJECT_SOURCE_DIR}/scripts/if_changed.py
    --build ${PROJECT_BINARY_DIR} ${name} ${ARGN})
endfunction()

if(NOT TMB_SANITIZE)
  set(tmb_scripts "${PROJECT_SOURCE_DIR}/scripts")
  tmb_add_kept_check(tidy ${tmb_scripts}/tidy.py)
  tmb_add_kept_check(tidy_test ${tmb_scripts}/tidy_test.py)
  tmb_add_kept_check(harness_test ${tmb_scripts}/harness_test.py)
  tmb_add_check(seeds lint python3 ${tmb_scripts}/seeds.py --check ${PROJECT_BINARY_DIR})
  tmb_add_kept_check(picture ${tmb_scripts}/picture.py)
  tmb_add_kept_check(book ${tmb_scripts}/book.py check)
  tmb_add_kept_check(book_test ${tmb_scripts}/book_test.py)
  tmb_add_kept_check(litmus ${tmb_scripts}/litmus.py --check)
  add_test(NAME litmus.patterns COMMAND python3 ${tmb_scripts}/litmus.py)
  add_test(NAME litmus.model COMMAND python3 ${tmb_scripts}/litmus_test.py)
  set_tests_properties(litmus.patterns litmus.model PROPERTIES LABELS "litmus;nightly" TIMEOUT 600)
  tmb_add_check(format lint python3 ${tmb_scripts}/check_format.py --build ${PROJECT_BINARY_DIR})
  tmb_add_check(locks lint python3 ${tmb_scripts}/check_locks.py --build ${PROJECT_BINARY_DIR})
  tmb_add_check(calls lint python3 ${tmb_scripts}/check_calls.py --build ${PROJECT_BINARY_DIR})
  if(TARGET tombolo_tool)
    tmb_add_check(man lint python3 ${tmb_scripts}/man.py $<TARGET_FILE:tombolo_tool>)
  endif()
  tmb_add_kept_check(reference ${tmb_scripts}/reference.py --check)
  tmb_add_kept_check(reference_test ${tmb_scripts}/reference_test.py)
  tmb_add_check(numbered lint python3 ${tmb_scripts}/gen_am_numbered.py)
  tmb_add_kept_check(messages ${tmb_scripts}/messages.py)
  tmb_add_check(install_deps_test lint python3 ${tmb_scripts}/install_deps_test.py)
  tmb_add_check(packaging lint python3 ${tmb_scripts}/check_packaging.py)
  tmb_add_check(symbols lint python3 ${tmb_scripts}/check_symbols.py
    --lib $<TARGET_FILE:tombolo_shared> --include ${PROJECT_SOURCE_DIR}/include
    --symbols ${PROJECT_SOURCE_DIR}/tests/data/symbols.txt
    --optional ${PROJECT_SOURCE_DIR}/tests/data/symbols_optional.txt)

  tmb_add_check(abi_test lint python3 ${tmb_scripts}/abi_test.py)
  # The library of the last release tag is built for it.
  tmb_add_check(abi compile python3 ${tmb_scripts}/abi.py --lib $<TARGET_FILE:tombolo_shared>)
  set_tests_properties(compile.abi PROPERTIES LABELS "compile;nightly" TIMEOUT 1200)
  # Debug information of other compilers and build types differs in words.
  tmb_add_kept_check(abi_baseline_test ${tmb_scripts}/abi_baseline_test.py)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    tmb_add_check(abi_baseline lint python3 ${tmb_scripts}/abi_baseline.py
      --lib $<TARGET_FILE:tombolo_shared> --cc ${CMAKE_C_COMPILER})
  endif()
  tmb_add_check(release_test lint python3 ${tmb_scripts}/release_test.py)
  # All programs are built from the tarball: ten minutes without a compiler cache.
  tmb_add_check(release compile python3 ${tmb_scripts}/release.py --dry-run --build
    --out ${PROJECT_BINARY_DIR}/release)
  set_tests_properties(compile.release PROPERTIES LABELS "compile;nightly" TIMEOUT 3000)
  tmb_add_check(musl compile bash ${tmb_scripts}/musl.sh ${PROJECT_BINARY_DIR}/musl)
  set_tests_properties(compile.musl PROPERTIES LABELS "compile;nightly" TIMEOUT 1800)

  if(TMB_CUDA)
    set(tmb_cuda_include "")
    if(TMB_CUDA_INCLUDE)
      set(tmb_cuda_include "--include=${TMB_CUDA_INCLUDE}")
    endif()
    tmb_add_check(cuda_abi compile python3 ${tmb_scripts}/check_cuda_abi.py
      --cc ${CMAKE_C_COMPILER} --work ${PROJECT_BINARY_DIR}/cuda-abi ${tmb_cuda_include})
  endif()

  set(tmb_header_compilers "")
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    set(tmb_header_compilers --cc "${CMAKE_C_COMPILER}" --cxx "${CMAKE_CXX_COMPILER}")
  endif()
  file(GLOB tmb_public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.h"
    "${PROJECT_SOURCE_DIR}/include/*.hpp")
  foreach(header IN LISTS tmb_public_headers)
    get_filename_component(name "${header}" NAME)
    tmb_add_check(${name} compile python3 ${tmb_scripts}/compile_headers.py
      --include ${PROJECT_SOURCE_DIR}/include ${tmb_header_compilers} ${name})
  endforeach()
  tmb_add_check(prototypes compile python3 ${tmb_scripts}/check_prototypes.py
    --include ${PROJECT_SOURCE_DIR}/include --lib $<TARGET_FILE:tombolo_shared>
    --lib $<TARGET_FILE:tombolo_static>
    --prototypes ${PROJECT_SOURCE_DIR}/tests/data/prototypes.txt)
  tmb_add_check(all compile python3 ${tmb_scripts}/compile_headers.py
    --include ${PROJECT_SOURCE_DIR}/include ${tmb_header_compilers} --all)

  tmb_add_check(every_compiler compile python3 ${tmb_scripts}/compile_headers.py
    --include ${PROJECT_SOURCE_DIR}/include --every --clients tombolo.hpp)
  tmb_add_check(clang_tidy compile python3 ${tmb_scripts}/check_clang_tidy.py)
  set_tests_properties(compile.every_compiler compile.clang_tidy PROPERTIES
    LABELS "compile;nightly" TIMEOUT 3600)

  tmb_add_check(bits32 compile bash ${PROJECT_SOURCE_DIR}/tests/install/bits32.sh
    ${PROJECT_SOURCE_DIR})
  if(TMB_INSTALL)
    foreach(method mak pkg-config blanks udp ofi mpi cmake shmem fortran prif names idioms compilers
            uninstall completion manual packages upcxx)
      tmb_add_check(${method} install bash ${PROJECT_SOURCE_DIR}/tests/install/check.sh ${method}
        ${PROJECT_BINARY_DIR})
    endforeach()
    set_tests_properties(install.mak install.pkg-config install.udp install.ofi install.mpi
      install.cmake install.compilers
      PROPERTIES TIMEOUT 120)
    # 45 s of processor time: cpack compresses all packages, lintian reads them.
    set_tests_properties(install.packages PROPERTIES LABELS "install;nightly" TIMEOUT 400)
    set_tests_properties(install.upcxx PROPERTIES LABELS "install;nightly" TIMEOUT 3600)
  endif()
endif()

# ---- the Book: its commands, run as printed, and its site
if(TARGET tombolo_tool AND TMB_EXAMPLES AND TMB_INSTALL AND NOT TMB_SANITIZE)
  tmb_add_check(book_commands examples python3 ${tmb_scripts}/book.py run
    --build ${PROJECT_BINARY_DIR})
  tmb_add_check(book_site examples python3 ${tmb_scripts}/book.py site
    --out ${PROJECT_BINARY_DIR}/book --venv ${PROJECT_BINARY_DIR}/book-venv)
  set_tests_properties(examples.book_commands examples.book_site PROPERTIES
    LABELS "examples;nightly" TIMEOUT 600)
endif()

# ---- fresh systems and unusual places, as root; system and packages are fetched each time. All
# compilers and build types that are here.
if(TARGET tombolo_tool AND NOT tmb_sparse AND NOT CMAKE_CROSSCOMPILING)
  foreach(pair bookworm=check trixie=test)
    string(REGEX MATCH "^([a-z]+)=([a-z]+)$" debian "${pair}")
    set(debian ${CMAKE_MATCH_1})
    add_test(NAME chroot.${debian} COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/chroot_test.sh"
      --debian ${debian} bash -c "make demo && make ${CMAKE_MATCH_2}")
    add_test(NAME chroot.first_hour.${debian} COMMAND bash
      "${PROJECT_SOURCE_DIR}/packaging/first_hour.sh" --debian ${debian})
  endforeach()
  # The Containerfile by buildah, with a Debian 12 of mmdebstrap as its base.
  add_test(NAME chroot.container COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/chroot_test.sh"
    --debian trixie --with "buildah git mmdebstrap netavark python3" bash packaging/container.sh)
  # Only what programs of Fortran need is built there; then gcc's own programs.
  add_test(NAME chroot.sid COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/chroot_test.sh"
    --debian sid --with
    "gfortran-14 gfortran-15 gfortran-16 gcc-16-source flang-22 flang-23" bash -c
    "make test-deps && cmake --preset dev -DTMB_TEST_FOLDERS=fault -DTMB_UPC=OFF -DTMB_SHMEM=OFF \
-DTMB_PYTHON=OFF -DTMB_FUZZ=OFF && python3 scripts/run_tests.py --only build --only fortran \
--only prif --only fortran-asan && ctest --test-dir build \
-R '^(fortran.gcc_tests$|multi.check_coarrays)' --output-on-failure")
  add_test(NAME chroot.place COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/chroot_test.sh"
    --user --at "/tmp/a clone" bash -c "make check && make configure 'BUILD=/tmp/a build' && \
make install 'PREFIX=/tmp/a prefix' && '/tmp/a prefix/bin/tombolo' version && make uninstall \
'PREFIX=/tmp/a prefix' && ! find '/tmp/a prefix' -type f | grep .")
  # After an installation of another version, each file of which ends what uses it.
  add_test(NAME chroot.installed COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/chroot_test.sh"
    bash -c "make test-deps && python3 scripts/run_tests.py --only build && \
bash tests/install/other_version.sh /usr/local build && make check")
  # Without the packages that only tests need, but cmocka: no gdb, valgrind, MPI, gfortran, NumPy.
  add_test(NAME chroot.bare COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/chroot_test.sh"
    --with "git libcmocka-dev" bash -c "make deps && python3 scripts/run_tests.py --check")
  # Without each of the optional tools, one at a time.
  add_test(NAME chroot.without_each COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/without_each.sh")
  add_test(NAME chroot.compilers COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/compilers.sh")
  add_test(NAME chroot.types COMMAND bash "${PROJECT_SOURCE_DIR}/scripts/compilers.sh" --types)
  set_tests_properties(chroot.bookworm chroot.trixie chroot.sid chroot.place chroot.compilers
    chroot.types chroot.bare chroot.installed chroot.without_each
    chroot.first_hour.bookworm chroot.first_hour.trixie chroot.container PROPERTIES
    LABELS "chroot;nightly" TIMEOUT 5400 SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
  set_tests_properties(chroot.without_each chroot.sid PROPERTIES TIMEOUT 10800)
endif()

# ---- former bugs, put back one at a time in a copy of the sources
if(TARGET tombolo_tool AND NOT tmb_sparse)
  add_test(NAME seeds COMMAND python3 "${PROJECT_SOURCE_DIR}/scripts/seeds.py")
  set_tests_properties(seeds PROPERTIES LABELS "seeds;nightly" TIMEOUT 7200 RUN_SERIAL TRUE)
endif()
