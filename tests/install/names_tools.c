/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names that programs look for after including gasnet_tools.h alone. Compiled by check.sh as C
 * and as C++, in every mode of the tools.
 */
#include <gasnet_tools.h>

#include "names.h"

#if !defined(_INCLUDED_GASNET_TOOLS_H) || defined(_INCLUDED_GASNET_H) || \
    defined(_INCLUDED_GASNETEX_H) || defined(_GASNETEX_H)
# error "the tools alone do not include the header of a job"
#endif

int main(void) {
  check_names();
#ifndef GASNETT_LITE_MODE
  check_threadkey();
  check_services();
#endif
  printf("names: %s\n", failures ? "FAILED" : "ok");
  return failures != 0;
}
