/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text by which a launcher gives an executed program its rank: TOMBOLO_BOOT.
 *
 * Owns: the text's format, declarations of invitation.c. Called by launch.c, which writes it, and
 * by boot.c and join.c, which read it. Calls: base. Invariant: nothing else knows the format; a
 * text of another version is refused as a whole, but its rank can be read.
 */
#ifndef TMB_BOOT_INVITATION_H
#define TMB_BOOT_INVITATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMB_LAUNCH_ENV       "TOMBOLO_BOOT" /* variable that names an executed program's rank */
#define TMB_LAUNCH_ENV_BYTES 128            /* a buffer of this many bytes holds its value */

struct tmb_invitation {
  uint32_t rank, size;
  uint64_t job_id;
  int supervisor; /* process number */
  int ctl_fd, arena_fd, segment_fd;
};

/* Write the text. out text: [bytes >= TMB_LAUNCH_ENV_BYTES]. */
void tmb_invitation_write(const struct tmb_invitation *in, char *text, size_t bytes);

/* Read it. Returns false, with *out undefined, unless this version has written it. */
bool tmb_invitation_read(const char *text, struct tmb_invitation *out);

/* Reads the rank alone, of a text of any version. Returns false, with *rank unchanged, if there is
 * none. */
bool tmb_invitation_rank(const char *text, uint32_t *rank);

#endif
