/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source lines of the calls that ranks wait in.
 *
 * Owns: declarations of source.c. Called by `tombolo why` and the watchdog. Calls: addr2line of
 * binutils or eu-addr2line of elfutils, where one is installed. Invariants: no rank is touched: a
 * snapshot says file and offset, and the file is read here.
 */
#ifndef TMB_BOOT_SOURCE_H
#define TMB_BOOT_SOURCE_H

#include "boot/explain/snapshot.h"

/* Replace file and offset of each rank's caller by words: "ring.f90:12 (in exchange)", or without
 * the tools or -g by "ring+0x1234". Takes tens of milliseconds for each different place. */
void tmb_source_find(struct tmb_snapshot *s);

/* The address that the program's file gives to the byte at an offset of it; 0: none. */
uint64_t tmb_source_address(const char *file, uint64_t offset);

/* The place of a return address in a program's file, in the same words. in address: as the file
 * gives it. out words: [TMB_SEEN_SOURCE]. */
void tmb_source_words(const char *file, uint64_t address, char *words);

#endif
