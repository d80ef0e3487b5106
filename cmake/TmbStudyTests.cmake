# SPDX-License-Identifier: BSD-3-Clause
# Tests of the study, with the label `study`, and its programs in coarray Fortran and UPC. They need
# the target `study`, which run_tests.py builds for `make test`, and which is no part of `all`.
if(NOT TARGET study OR TMB_SANITIZE)
  return()
endif()
set(tmb_study_programs "")

# ---- applications in C
# tmb_study_run(NAME RANKS APP ARGUMENTS...): the application on so many ranks, with the hdr_* set.
function(tmb_study_run name ranks app)
  tmb_register_run(study.${name} study "$<TARGET_FILE:tombolo_tool>;run;-n;${ranks};--timeout;60;\
--;$<TARGET_FILE:study__${app}>;${ARGN}")
endfunction()

# tmb_study_error(APP ARGUMENTS...): the application finds an error that is put into its data.
function(tmb_study_error app)
  tmb_read_header(hdr)
  set(hdr_match "FAILED")
  set(hdr_expect 1)
  tmb_study_run(${app}.error 2 ${app} ${ARGN} --inject-error)
endfunction()

if(TARGET study__ft)
  tmb_read_header(hdr)
  set(hdr_match "VERIFIED")
  foreach(n 1 2 4)
    tmb_study_run(ft.S.n${n} ${n} ft --class S --schedule all)
  endforeach()
  # Two exchanges of a transform in progress at once: ranks that share no memory.
  set(hdr_env "TOMBOLO_PLACES=4" "TOMBOLO_CONDUIT=udp")
  tmb_study_run(ft.S.far 4 ft --class S --schedule all --grid 2x2)
endif()
tmb_read_header(hdr)
if(TARGET study__matmul)
  foreach(n 1 2 3 4 7)
    tmb_study_run(matmul.n${n} ${n} matmul --size 301 --columns 190 --inner 257 --block 32)
  endforeach()
  foreach(n 1 2 3 4 6 8)
    tmb_study_run(cholesky.n${n} ${n} cholesky --size 301 --block 36)
  endforeach()
  tmb_study_error(matmul --size 64)
  tmb_study_error(cholesky --size 64)
endif()
set(tmb_study_bfs --scale 10 -i 1)
set(tmb_study_tree --root 400 -i 2)
set(tmb_study_pipeline --iterations 3)
set(tmb_study_stencil --iterations 3)
set(tmb_study_hash --iterations 3)
foreach(app IN ITEMS pipeline stencil hash bfs tree)
  foreach(n 1 2 3 4 7)
    tmb_study_run(${app}.n${n} ${n} ${app} ${tmb_study_${app}})
  endforeach()
  tmb_study_error(${app} ${tmb_study_${app}})
endforeach()
# Ranks of which some share memory: messages, gets and atomic operations overtake one another.
set(hdr_env "TOMBOLO_PLACES=cyclic:2" "TOMBOLO_CONDUIT=udp")
foreach(app IN ITEMS pipeline stencil bfs tree)
  tmb_study_run(${app}.far 3 ${app} ${tmb_study_${app}})
endforeach()
tmb_read_header(hdr)
tmb_study_run(stencil.overlap 4 stencil --iterations 3 --overlap 1 --points 101)
foreach(problem blast tube tube-y corner)
  foreach(n 1 2 3 4 7)
    tmb_study_run(hydro.${problem}.n${n} ${n} hydro --problem ${problem} -x 41 -y 38 -i 20)
  endforeach()
endforeach()
tmb_study_error(hydro -x 41 -y 38 -i 3)

# Unit tests of FT get what it has, less its main.
file(GLOB tmb_ft_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/study/apps/ft/*_test.c")
list(FILTER tmb_ft_sources EXCLUDE REGEX "/main\\.c$")
foreach(src IN LISTS tmb_ft_tests)
  if(FFTW3_FOUND)
    get_filename_component(name "${src}" NAME_WE)
    add_executable(study.unit.${name} EXCLUDE_FROM_ALL ${src} ${tmb_ft_sources})
    target_compile_definitions(study.unit.${name} PRIVATE GASNET_SEQ=1)
    target_link_libraries(study.unit.${name} PRIVATE tmb_warnings tmb_client PkgConfig::FFTW3
      PkgConfig::CMOCKA m)
    add_test(NAME study.unit.${name} COMMAND study.unit.${name})
    set_tests_properties(study.unit.${name} PROPERTIES LABELS study TIMEOUT 30)
    add_dependencies(study study.unit.${name})
  endif()
endforeach()

# ---- coarray Fortran
# tmb_caf_application(PROGRAM APP): an application in coarray Fortran, study/apps/APP/APP.F90, on
# what all of them share.
function(tmb_caf_application program app)
  set(src "${PROJECT_SOURCE_DIR}/study/lib/app_caf.F90"
    "${PROJECT_SOURCE_DIR}/study/apps/${app}/${app}.F90")
  add_custom_command(OUTPUT "${program}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${program}-modules"
    COMMAND $<TARGET_FILE:tombolo_tool> fc --compiler=${TMB_GFORTRAN_${tmb_fortran_newest}} -O3
      -Wall -J "${program}-modules" ${src} -o "${program}"
    DEPENDS ${src} tombolo_tool caf_shared caf16_shared fortran_modules
    COMMENT "Fortran: ${app}" VERBATIM)
endfunction()

if(DEFINED tmb_fortran_newest)
  # The coarray form of hydro.
  set(program "${PROJECT_BINARY_DIR}/bench/hydro-caf")
  tmb_caf_application("${program}" hydro)
  list(APPEND tmb_study_programs "${program}")
  tmb_read_header(hdr)
  foreach(n 1 2 4 7)
    tmb_register_run(study.hydro_caf.n${n} study "$<TARGET_FILE:tombolo_tool>;run;-n;${n};\
--timeout;60;--;${program};41;38;20")
  endforeach()
  tmb_register_run(study.hydro_caf.corner study "$<TARGET_FILE:tombolo_tool>;run;-n;3;\
--timeout;60;--;${program};23;40;20;corner;attached")
  set(hdr_match "attached +the assignment is the post")
  tmb_register_run(study.hydro_caf.help study "$<TARGET_FILE:tombolo_tool>;run;-n;2;\
--timeout;60;--;${program};--help")
  set(hdr_expect 2)
  set(hdr_match "hydro-caf: this problem.*an image can have [0-9]+ MiB")
  tmb_register_run(study.hydro_caf.memory study "$<TARGET_FILE:tombolo_tool>;run;-n;3;\
--timeout;60;--;${program};2147483647;2147483647")

  # Applications in coarray Fortran, on what they share (study/lib/app_caf.F90).
  set(tmb_caf_pipeline "--rows;200;--columns;200")
  set(tmb_caf_stencil "--points;67;--radius;3")
  set(tmb_caf_pipeline_memory "--rows;2147483647;--columns;2147483647")
  set(tmb_caf_stencil_memory "--points;2147483647")
  set(tmb_caf_pipeline_refused "--columns;3")
  set(tmb_caf_stencil_refused "--points;7;--radius;4")
  foreach(app IN ITEMS pipeline stencil)
    set(program "${PROJECT_BINARY_DIR}/bench/fortran/${app}")
    tmb_caf_application("${program}" ${app})
    list(APPEND tmb_study_programs "${program}")
    tmb_read_header(hdr)
    foreach(n 1 2 3 4 7)
      tmb_register_run(study.fortran.${app}.n${n} study "$<TARGET_FILE:tombolo_tool>;run;-n;${n};\
--timeout;60;--;${program};--iterations;2;${tmb_caf_${app}}")
    endforeach()
    set(hdr_expect 2)
    tmb_register_run(study.fortran.${app}.refused study "$<TARGET_FILE:tombolo_tool>;run;-n;2;\
--timeout;60;--;${program};${tmb_caf_${app}_refused}")
    set(hdr_match "an image can have [0-9]+ MiB")
    tmb_register_run(study.fortran.${app}.memory study "$<TARGET_FILE:tombolo_tool>;run;-n;3;\
--timeout;60;--;${program};${tmb_caf_${app}_memory}")
    set(hdr_expect 0)
    set(hdr_match "attached +the assignment is the post")
    tmb_register_run(study.fortran.${app}.help study "$<TARGET_FILE:tombolo_tool>;run;-n;2;\
--timeout;60;--;${program};--help")
  endforeach()
endif()

# ---- UPC
if(DEFINED tmb_upcc AND FFTW3_FOUND)
  set(program "${PROJECT_BINARY_DIR}/bench/ft-upc")
  set(src "${PROJECT_SOURCE_DIR}/study/apps/ft")
  add_library(study_upc_ft OBJECT EXCLUDE_FROM_ALL "${src}/problem.c" "${src}/layout.c"
    "${src}/phases.c" "${src}/pencil.c")
  target_link_libraries(study_upc_ft PRIVATE tmb_warnings PkgConfig::FFTW3)
  target_compile_definitions(study_upc_ft PRIVATE _GNU_SOURCE=1)
  add_custom_command(OUTPUT "${program}"
    COMMAND ${tmb_upcc} -O2 -Wall -I "${src}" "${src}/ft.upc"
      $<TARGET_OBJECTS:study_upc_ft> -lfftw3 -o "${program}"
    DEPENDS "${src}/ft.upc" $<TARGET_OBJECTS:study_upc_ft> ${tmb_upc_needs}
    COMMENT "UPC: ft" COMMAND_EXPAND_LISTS VERBATIM)
  list(APPEND tmb_study_programs "${program}")
  tmb_read_header(hdr)
  set(hdr_ranks 1 2 4)
  tmb_register_program(study.upc_ft study "${program}")
endif()
# matmul and Cholesky, whose problem and verification are those in C, for tests/study/linear.py.
if(DEFINED tmb_upcc AND TARGET study__matmul)
  tmb_bench_objects(common study PARSYNC app.c links.c)
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/study/lib/*.h")
  foreach(app IN ITEMS matmul cholesky)
    set(program "${PROJECT_BINARY_DIR}/bench/${app}-upc")
    set(src "${PROJECT_SOURCE_DIR}/study/apps/${app}")
    file(GLOB sources CONFIGURE_DEPENDS "${src}/*.c")
    list(FILTER sources INCLUDE REGEX "/(problem|local)\\.c$")
    file(GLOB own_headers CONFIGURE_DEPENDS "${src}/*.h")
    add_library(study_upc_${app} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_include_directories(study_upc_${app} PRIVATE "${PROJECT_SOURCE_DIR}/study")
    target_compile_definitions(study_upc_${app} PRIVATE GASNET_PARSYNC=1)
    target_link_libraries(study_upc_${app} PRIVATE tmb_warnings tmb_client PkgConfig::OPENBLAS)
    set(flags "${OPENBLAS_INCLUDE_DIRS}")
    list(TRANSFORM flags PREPEND "-I")
    add_custom_command(OUTPUT "${program}"
      COMMAND ${tmb_upcc} -O2 -Wall -DGASNET_PARSYNC=1
        -I "${PROJECT_SOURCE_DIR}/study" -I "${PROJECT_SOURCE_DIR}/include" ${flags}
        "${src}/${app}.upc" ${common} $<TARGET_OBJECTS:study_upc_${app}> ${OPENBLAS_LDFLAGS} -lm
        -o "${program}"
      DEPENDS "${src}/${app}.upc" ${common} $<TARGET_OBJECTS:study_upc_${app}> ${tmb_upc_needs}
        ${own_headers} ${headers}
      COMMENT "UPC: ${app}" COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND tmb_study_programs "${program}")
  endforeach()
endif()

# ---- scripts
# tmb_study_script(NAME TIMEOUT SCRIPT [ARGUMENTS...]): a script of tests/study.
function(tmb_study_script name timeout script)
  tmb_read_header(hdr)
  set(hdr_timeout ${timeout})
  set(hdr_nightly "${tmb_study_nightly}")
  set(interpreter python3)
  if(script MATCHES "\\.sh$")
    set(interpreter bash)
  endif()
  set(command "${interpreter}" "${PROJECT_SOURCE_DIR}/tests/study/${script}" ${ARGN})
  tmb_register_run(study.${name} study "${command}")
endfunction()

set(tmb_study_nightly "")
tmb_study_script(ft_verify 120 ft_verify.sh)
tmb_study_script(ft_refuse 120 ft_refuse.sh)
tmb_study_script(hydro.ranks 60 hydro_ranks.py)
tmb_study_script(linear 60 linear.py)
tmb_study_script(apps 300 app_reports.py)
tmb_study_script(app_refusals 300 app_refusals.py)
foreach(name IN ITEMS budget sweep parts cells targets figures cloverleaf)
  tmb_study_script(${name} 120 ${name}_test.py)
endforeach()
tmb_study_script(report 120 study_report.py)
tmb_study_script(simulate 120 simulate.py)
tmb_study_script(sim_costs 60 sim_costs.py)
tmb_study_script(sim_figures 120 sim_figures.py)
set(tmb_study_nightly yes)
tmb_study_script(quick 900 study_report.py quick)

# tmb_study_kept(NAME SCRIPT [ARGUMENTS...]): as tmb_add_kept_check, but no part of `lint`.
function(tmb_study_kept name)
  tmb_add_check(${name} study python3 "${PROJECT_SOURCE_DIR}/scripts/if_changed.py"
    --build "${PROJECT_BINARY_DIR}" study_${name} ${ARGN})
endfunction()
tmb_study_kept(kept_figures "${PROJECT_SOURCE_DIR}/study/figures.py" --check)
tmb_study_kept(kept_targets "${PROJECT_SOURCE_DIR}/study/targets.py" --check)
tmb_study_kept(kept_cells "${PROJECT_SOURCE_DIR}/study/compare/cells.py" --check)
tmb_study_kept(plots "${PROJECT_SOURCE_DIR}/tests/study/plots_test.py")

add_custom_target(study_programs DEPENDS ${tmb_study_programs})
add_dependencies(study study_programs)
