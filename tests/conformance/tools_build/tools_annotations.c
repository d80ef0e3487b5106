/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Annotations and platform macros of the tools in C; a false assumption is caught in debug only. */
#include "tools_forms.h"

int main(void) {
  forms_test();
  return check_done();
}
