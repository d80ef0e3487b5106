/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: PAR */
/* debug: yes */
/* In debug clients a false assumption is fatal and named (API reference 09, section 8). */
#include <signal.h>

#include "tools_child.h"
#include "tools_forms.h"

static int three = 3;

static void false_assumption(void) {
  gasnett_assume(three == 4);
}
static void reached(void) {
  gasnett_unreachable();
}

int main(void) {
  forms_test();
  CHECK_FATAL(false_assumption, "three == 4", "false_assumption", "tools_annotations_debug.c");
  CHECK_FATAL(reached, "gasnett_unreachable", "reached");
  CHECK(strstr(gasnett_performance_warning_str(), "debugging") != NULL);
  CHECK(strstr(GASNETT_CONFIG_STRING, ",debug,PAR,") != NULL);
  return check_done();
}
