# SPDX-License-Identifier: BSD-3-Clause
# tmb_read_header(PREFIX SOURCES...): reads the `/* key: value */` comment lines (`# key: value`
# in scripts, `! key: value` in Fortran) among the first 30 lines of each source and sets
# PREFIX_ranks (list), PREFIX_mode (SEQ), PREFIX_debug, PREFIX_timeout (120), PREFIX_args,
# PREFIX_env (list), PREFIX_launch, PREFIX_expect (0), PREFIX_match, PREFIX_long, PREFIX_emulated
# (what QEMU gets in the place of that), PREFIX_cases, PREFIX_since
# (of Fortran tests: the oldest gfortran that compiles it), PREFIX_gcc (of UPC programs: what they
# have that clang does not compile), PREFIX_nightly (empty, or yes: no run is
# one of `make test`), PREFIX_far (yes, or empty: no run over the conduit loop) and PREFIX_again
# (each NAME=VALUE, or several joined by +, repeats the tests with that in the environment) in the
# caller's scope. The first source that has a key wins.
# CONTRIBUTING.md explains the keys to test writers.
function(tmb_read_header prefix)
  string(ASCII 1 open) # brackets would change how CMake splits the text into lines
  string(ASCII 2 close)
  set(ranks "")
  set(mode "SEQ")
  set(debug "")
  set(timeout 120)
  set(args "")
  set(env "")
  set(launch "")
  set(expect "0")
  set(match "")
  set(cases "")
  set(again "")
  set(long "")
  set(emulated "")
  set(since "")
  set(gcc "")
  set(nightly "")
  set(far "yes")
  set(seen "")
  set(keys "ranks|mode|debug|timeout|args|env|launch|expect|match|cases|again|long|emulated")
  string(APPEND keys "|since|gcc|nightly|far")
  foreach(src IN LISTS ARGN)
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${src}")
    file(READ "${src}" head LIMIT 4000)
    string(REPLACE ";" "," head "${head}")
    string(REPLACE "[" "${open}" head "${head}")
    string(REPLACE "]" "${close}" head "${head}")
    string(REGEX REPLACE "\n" ";" lines "${head}")
    list(SUBLIST lines 0 30 lines)
    foreach(line IN LISTS lines)
      if(line MATCHES
         "^(/\\*|#|//|!) *(${keys}): *(.*)$")
        set(key "${CMAKE_MATCH_2}")
        string(REGEX REPLACE " *\\*/ *$" "" value "${CMAKE_MATCH_3}")
        string(STRIP "${value}" value)
        string(REPLACE "${open}" "[" value "${value}")
        string(REPLACE "${close}" "]" value "${value}")
        if(NOT key IN_LIST seen)
          list(APPEND seen ${key})
          set(${key} "${value}")
        elseif(key STREQUAL "again")
          string(APPEND again " ${value}")
        endif()
      endif()
    endforeach()
  endforeach()
  if(NOT mode MATCHES "^(SEQ|PARSYNC|PAR)$")
    message(FATAL_ERROR "${ARGN}: mode: ${mode} is not SEQ, PARSYNC or PAR")
  endif()
  if(NOT timeout MATCHES "^[0-9]+$")
    message(FATAL_ERROR "${ARGN}: timeout: ${timeout} is not a number of seconds")
  endif()
  foreach(key debug nightly far)
    if(${key} MATCHES "^(no|off|0)$")
      set(${key} "")
    endif()
  endforeach()
  foreach(key ranks args env launch cases again)
    string(REGEX REPLACE "[ ,]+" ";" ${key} "${${key}}")
  endforeach()
  foreach(key ranks mode debug timeout args env launch expect match cases again long emulated since
      gcc nightly far)
    set(${prefix}_${key} "${${key}}" PARENT_SCOPE)
  endforeach()
endfunction()
