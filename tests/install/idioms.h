/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for idioms.c and idioms_two.c. */
#ifndef IDIOMS_H
#define IDIOMS_H

GASNETT_BEGIN_EXTERNC
void *key_of_other_file(void);
int other_file(gex_TM_t tm);
GASNETT_END_EXTERNC

#endif
