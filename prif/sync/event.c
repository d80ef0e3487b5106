/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events and notify variables: prif_event_post, prif_event_wait, prif_event_query,
 * prif_notify_wait.
 *
 * Owns nothing: a variable counts in its first 8 bytes, which are zero at first. Called by
 * programs. Calls: posts and waits of coarray/. Invariants: a post comes after all earlier writes
 * of its image; a wait takes its count at once, and writes before the posts are then visible; it
 * ends with a code when the posts can no longer come.
 */
#include "access/place.h"

#include "sync/control.h"
#include "sync/post.h"

#define WORD 8u /* bytes of a variable that are used */

/* Whether a variable of this image is one; false after prif_fail. in name: of the argument. */
static bool is_own_word(void *const *pointer, const char *name, const struct prif_status *to) {
  const uintptr_t at = (uintptr_t)*pointer;
  if (at % WORD == 0 && at - (uintptr_t)caf.segment <= caf.segment_bytes - WORD) return true;
  prif_fail(to, PRIF_STAT_ERROR,
            "%s: %s=%p is no variable of a coarray of this image: pass the address that "
            "prif_allocate_coarray gave, or one within it, a multiple of %u [TMB-2234]",
            caf.statement.call, name, *pointer, WORD);
  return false;
}

static void post(const struct prif_where *where, const struct prif_status *to) {
  struct prif_place place;
  if (!prif_find_word(&place, where, to)) return;
  caf_complete();
  caf_post(place.rank, place.at);
  prif_finish(place.rank, to);
}

static void wait(uint64_t *word, const int64_t *until_count, const struct prif_status *to) {
  const int64_t until = until_count && *until_count > 1 ? *until_count : 1;
  const char *name = caf.statement.call;
  if (until >= (int64_t)CAF_LOSS) {
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: until_count=%lld: at most %lld posts can be waited for [TMB-2233]", name,
              (long long)until, (long long)CAF_LOSS - 1);
    return;
  }
  const int code = caf_wait_posts(word, (uint64_t)until);
  char who[CAF_ENDED_ROOM];
  if (code == 0)
    prif_done(to);
  else if (caf_alone())
    prif_fail(to, prif_code_of(code),
              "%s: until_count=%lld posts have not come, and no other image is left to post "
              "[TMB-2232]",
              name, (long long)until);
  else
    prif_fail(to, prif_code_of(code),
              "%s: until_count=%lld posts have not come, and %s has %s [TMB-2231]", name,
              (long long)until, caf_ended_images(caf.team, code, who, sizeof who),
              caf_end_name(code));
}

void PRIF(event_post)(PRIF_VARIABLE, PRIF_STATUS) {
  PRIF_STATEMENT("prif_event_post");
  post(PRIF_WHERE, PRIF_TO);
}

void PRIF(event_post_indirect)(PRIF_ADDRESS(event_var_ptr), PRIF_STATUS) {
  PRIF_STATEMENT("prif_event_post_indirect");
  post(PRIF_WHERE_AT(event_var_ptr), PRIF_TO);
}

void PRIF(event_wait)(void *const *event_var_ptr, const int64_t *until_count, PRIF_STATUS) {
  PRIF_STATEMENT("prif_event_wait");
  if (!is_own_word(event_var_ptr, "event_var_ptr", PRIF_TO)) return;
  caf_complete();
  wait(*event_var_ptr, until_count, PRIF_TO);
}

void PRIF(event_query)(void *const *event_var_ptr, int64_t *count, int32_t *stat) {
  PRIF_STATEMENT("prif_event_query");
  const struct prif_status to = {.stat = stat};
  if (!is_own_word(event_var_ptr, "event_var_ptr", &to)) return;
  caf_serve();
  *count = (int64_t)(caf_posts_count(*event_var_ptr) & (CAF_LOSS - 1));
  caf_looked(*event_var_ptr, *count);
  prif_done(&to);
}
PRIF_FLANG(event_query)

void PRIF(notify_wait)(void *const *notify_var_ptr, const int64_t *until_count, PRIF_STATUS) {
  PRIF_STATEMENT("prif_notify_wait");
  if (is_own_word(notify_var_ptr, "notify_var_ptr", PRIF_TO))
    wait(*notify_var_ptr, until_count, PRIF_TO);
}
