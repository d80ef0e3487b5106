# SPDX-License-Identifier: BSD-3-Clause
# Which runs of a program `make test` makes. A program has rank counts, cases and settings (`ranks`,
# `cases` and `again` in its head). Their product is what `make test-all` runs. Of the product the
# rule below chooses; the rest gets the label "nightly", which `make test` leaves out.
#
# 1. Each pair of a case and a setting runs at one rank count. The count follows from the sum of
#    their indexes (a Latin square), so each case and each setting meets each count.
# 2. A program without cases runs without a setting at two counts, one of them odd and above 1
#    where there is one; with each setting at one count.
# 3. Counts above 8 are chosen for the second count of rule 2 only.
# 4. `nightly: yes` in the head: no run of this program is chosen.
# 5. In the trees of the sanitizers and of preempt a run is dear. There a case meets one setting. A
#    program without cases runs once without a setting and once with one. Of a program and its twin
#    for debug clients (`debug: both`) one is chosen; the other is not built by default.
# A hash of the test's name says where the counts begin, so that a new test changes no other's runs.
# The trees begin at different places.
#
# A program of which no run is chosen belongs to the build target `nightly`, not to `all`.
#
# The label "check" marks what `make check` runs of conformance: the first run chosen of each
# program, without a setting and with its first case.

# Sets OUT to the hash of a text, 0 to 16777215.
function(tmb_hash out text)
  string(MD5 digits "${text}")
  string(SUBSTRING "${digits}" 0 6 digits)
  math(EXPR number "0x${digits}")
  set(${out} ${number} PARENT_SCOPE)
endfunction()

# Sets OUT to element number INDEX modulo the length of the list that follows.
function(tmb_pick out index)
  list(LENGTH ARGN length)
  math(EXPR at "(${index}) % ${length}")
  list(GET ARGN ${at} element)
  set(${out} ${element} PARENT_SCOPE)
endfunction()

set(tmb_sparse FALSE) # rule 5
if(TMB_SANITIZE OR TMB_PREEMPT)
  set(tmb_sparse TRUE)
endif()

# tmb_meets(OUT NAME SETTING CASE SETTINGS): whether `make test` runs NAME with setting number
# SETTING of SETTINGS (0: none) and case number CASE (-1: the program has no cases).
function(tmb_meets out name setting case settings)
  set(meets TRUE)
  tmb_hash(start "${name}")
  if(tmb_sparse AND case EQUAL -1 AND setting GREATER 0)
    math(EXPR chosen "1 + ${start} % ${settings}")
  elseif(tmb_sparse AND case GREATER -1)
    math(EXPR chosen "(${start} + ${case}) % (${settings} + 1)")
  else()
    set(chosen ${setting})
  endif()
  if(NOT chosen EQUAL setting)
    set(meets FALSE)
  endif()
  set(${out} ${meets} PARENT_SCOPE)
endfunction()

# tmb_choose_counts(OUT NAME SETTING CASE SETTINGS COUNTS...): the rank counts at which `make test`
# runs NAME with this setting and case, which are as for tmb_meets.
function(tmb_choose_counts out name setting case settings)
  tmb_meets(meets ${name} ${setting} ${case} ${settings})
  set(few ${ARGN})
  list(FILTER few EXCLUDE REGEX "^(9|[1-9][0-9]+)$")
  if(NOT few)
    set(few ${ARGN})
  endif()
  tmb_hash(start "${name}${TMB_SANITIZE}${TMB_PREEMPT}")
  if(NOT meets)
    set(chosen "")
  elseif(case EQUAL -1 AND setting EQUAL 0)
    set(odd ${few})
    list(FILTER odd INCLUDE REGEX "^[3579]$")
    if(NOT odd)
      set(odd ${few})
    endif()
    tmb_pick(first ${start} ${odd})
    set(others ${ARGN})
    list(REMOVE_ITEM others ${first})
    set(chosen ${first})
    if(others AND NOT tmb_sparse)
      tmb_pick(second ${start}/7 ${others})
      list(APPEND chosen ${second})
    endif()
  else()
    tmb_pick(chosen ${start}+${setting}+${case}+1 ${few})
  endif()
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# Sets OUT to the labels that a run at count N has beside those of its folder; CHOSEN are the counts
# that tmb_choose_counts gave.
function(tmb_selection_labels out n setting case chosen)
  set(labels "")
  if(NOT n IN_LIST chosen)
    set(labels nightly)
  elseif(setting EQUAL 0 AND case LESS 1)
    list(GET chosen 0 first)
    if(n EQUAL first)
      set(labels check)
    endif()
  endif()
  set(${out} ${labels} PARENT_SCOPE)
endfunction()

# Whether NAME, of which a twin for debug clients exists, is the one of the two that `make test`
# leaves out in the trees of rule 5; DEBUG is true for the twin.
function(tmb_twin_is_nightly out name debug)
  set(nightly "")
  tmb_hash(start "${name}${TMB_SANITIZE}${TMB_PREEMPT}")
  math(EXPR chosen "${start} / 11 % 2")
  if(tmb_sparse AND NOT chosen EQUAL debug)
    set(nightly yes)
  endif()
  set(${out} "${nightly}" PARENT_SCOPE)
endfunction()

# The programs of which every run is nightly.
add_custom_target(nightly)
function(tmb_build_nightly target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_dependencies(nightly ${target})
endfunction()
