# SPDX-License-Identifier: BSD-3-Clause
# Language levels and compiler flags: `tmb_warnings` (an interface target that all our code links)
# and the global sanitizer and coverage flags. Optimised builds keep assert(): NDEBUG is only for
# Release.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
# Trees that only tests use: compiling takes as much time as the tests. At -O1 gcc sees fewer paths
# and warns of variables that are initialised; the tree dev has that warning.
set(tmb_few_paths "")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # clang does not know the option
  set(tmb_few_paths "-Wno-maybe-uninitialized")
endif()
if(TMB_SANITIZE OR TMB_PREEMPT)
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1 ${tmb_few_paths}")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 ${tmb_few_paths}")
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig)

# RISC-V has no atomic instructions for single bytes, which locks use: gcc calls libatomic there.
include(CheckCSourceCompiles)
check_c_source_compiles("char c; int main(void) { return __atomic_exchange_n(&c, 1, 2); }"
  TMB_BYTE_ATOMICS)
if(NOT TMB_BYTE_ATOMICS)
  link_libraries(atomic)
endif()

# Compilers for x86-64 and ARM write unwind tables for C by themselves, those for RISC-V do not.
# Without them a backtrace ends where it begins, and the caller of a call is not named.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  add_compile_options(-fasynchronous-unwind-tables)
endif()

# gcc clears and copies structures from some 50 bytes on by string instructions, which take 20 to 30
# cycles to begin: as long as the rest of a call.
include(CheckCCompilerFlag)
set(tmb_by_loop "unrolled_loop:256:noalign,libcall:-1:noalign")
set(tmb_no_strings -mmemset-strategy=${tmb_by_loop} -mmemcpy-strategy=${tmb_by_loop})
check_c_compiler_flag("${tmb_no_strings}" TMB_NO_STRINGS)
if(TMB_NO_STRINGS)
  add_compile_options("$<$<COMPILE_LANGUAGE:C>:${tmb_no_strings}>")
endif()

add_library(tmb_warnings INTERFACE)
target_compile_options(tmb_warnings INTERFACE -Wall -Wextra $<$<COMPILE_LANGUAGE:C>:-Wvla>)
# clang sees that templates of gcc's C++ library call what C++17 deprecates.
target_compile_options(tmb_warnings INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
if(TMB_WERROR)
  target_compile_options(tmb_warnings INTERFACE -Werror)
endif()

if(TMB_SANITIZE)
  add_compile_options(-fsanitize=${TMB_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TMB_SANITIZE})
  if(TMB_SANITIZE MATCHES "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan) # it does not model fences; gcc says so for each one
  endif()
  if(TMB_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    # The address sanitizer reports an access through NULL, and one past an object. Without a test
    # for each of them here, too, compiling takes a fifth less time.
    if(TMB_SANITIZE MATCHES "address")
      add_compile_options(-fno-sanitize=null,object-size)
    endif()
  endif()
endif()
if(TMB_PREEMPT)
  add_compile_definitions(TMB_PREEMPT=1)
endif()
if(TMB_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
