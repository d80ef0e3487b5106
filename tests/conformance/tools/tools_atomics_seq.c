/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: SEQ */
/* Values of every atomic operation of a SEQ client (API reference 09, section 4). */
#include "tools_family.h"

int main(void) {
  family_all();
  return check_done();
}
