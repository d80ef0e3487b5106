/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of `tombolo why` for an image that waits: statement, image, variable, source line.
 *
 * Owns: the purpose of this image's wait. Called by the files that wait, once a wait has lasted.
 * Calls: gexx_WaitInfo_*, name.c. Invariants: CAF_STATEMENT has said which statement of the program
 * runs; each begin has its end on every path out.
 */
#include "caf.h"

static struct caf_shown shown; /* the wait, as its begin has described it */

/* The name of the variable, which takes a search of the program's symbols. */
static void find_name(gexx_WaitInfo_t *info) {
  static char name[CAF_NAME_ROOM];
  const struct caf_token *token =
      shown.token ? shown.token : caf_token_at((const char *)shown.word);
  info->object = caf_name_of(token, name, sizeof name);
}

void caf_show_begin(const struct caf_shown *s) {
  gexx_WaitInfo_t *w = &caf.statement;
  shown = *s;
  w->needs = s->needs;
  w->polls = s->polls;
  w->peer = s->peer;
  w->home = s->polls ? s->home : GEX_RANK_INVALID;
  w->event = s->event;
  w->object = NULL;
  w->detail = s->token || s->word ? find_name : NULL;
  gexx_WaitInfo_Begin(w);
}

void caf_show_end(void) {
  gexx_WaitInfo_End();
}
