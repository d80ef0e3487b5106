/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launcher's text, see invitation.h; and who prints for the job before it is joined.
 *
 * Owns nothing. Called by launch.c, boot.c, join.c; tmb_boot_speaks by the settings (base/config.h)
 * at any time before the rank is known. Calls: base. Invariant: base/config.c gets addresses of
 * boot's functions from here, because it may not name them.
 */
#include "boot/launch/invitation.h"

#include "base/config.h"
#include "boot/boot.h"

#include <inttypes.h>
#include <stdio.h>

void tmb_invitation_write(const struct tmb_invitation *in, char *text, size_t bytes) {
  snprintf(text, bytes, "2:%" PRIu32 ":%" PRIu32 ":%" PRIx64 ":%d:%d:%d:%d", in->rank, in->size,
           in->job_id, in->supervisor, in->ctl_fd, in->arena_fd, in->segment_fd);
}

bool tmb_invitation_read(const char *text, struct tmb_invitation *out) {
  int end = 0;
  const int fields =
      sscanf(text, "2:%" SCNu32 ":%" SCNu32 ":%" SCNx64 ":%d:%d:%d:%d%n", &out->rank, &out->size,
             &out->job_id, &out->supervisor, &out->ctl_fd, &out->arena_fd, &out->segment_fd, &end);
  return fields == 7 && text[end] == '\0' && out->rank < out->size &&
         out->size <= TMB_BOOT_RANKS_MAX;
}

bool tmb_invitation_rank(const char *text, uint32_t *rank) {
  uint32_t found;
  if (sscanf(text, "%*u:%" SCNu32, &found) != 1) return false;
  *rank = found;
  return true;
}

bool tmb_boot_speaks(void) {
  const char *text = tmb_env_get(TMB_LAUNCH_ENV);
  uint32_t rank = 0;
  return !text || !tmb_invitation_rank(text, &rank) || rank == 0;
}

TMB_AT_LOAD static void name_speaker(void) {
  tmb_cfg_set_speaker(tmb_boot_speaks);
}
