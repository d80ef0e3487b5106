/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the rooms of the PRIF library call of each other.
 *
 * Owns: coarray handles, STAT= and ERRMSG= of a call. Included by every file of prif/ that defines
 * an entry point. Calls the core of coarray/, which has the images, their memory, teams and waits.
 * Invariants: a program's arguments are checked here, before the core sees them; a message names
 * the procedure, the argument, its value and the remedy; the codes of STAT= are those of entry.h,
 * whatever the core says.
 */
#ifndef PRIF_H
#define PRIF_H

#include "caf.h"
#include "entry.h"

/* Begins every entry point that uses the library: starts it where the program has not called
 * prif_init yet, as compiled code does that allocates static coarrays, and names the statement for
 * `tombolo why`. */
#define PRIF_STATEMENT(name) (prif_settle(), CAF_STATEMENT(name))
void prif_start(void);
static inline void prif_settle(void) {
  if (__builtin_expect(!caf.settled, 0)) prif_start();
}

/* ---- STAT= and ERRMSG= */

/* Of a call; NULL: absent. */
struct prif_status {
  int32_t *stat;
  const struct prif_desc *errmsg;
  struct prif_desc *errmsg_alloc;
};
#define PRIF_TO        (&(const struct prif_status){stat, errmsg, errmsg_alloc})
#define PRIF_NO_STATUS (&(const struct prif_status){NULL, NULL, NULL})

/* Ends a call well. */
static inline void prif_done(const struct prif_status *to) {
  if (to->stat) *to->stat = 0;
}

/* Ends a call badly: sets STAT= and ERRMSG=, or ends the program with the message where STAT= is
 * absent. in code: enum prif_stat. The format ends in the number of the message, as [TMB-2201],
 * which ERRMSG= is spared. */
__attribute__((format(printf, 3, 4))) void prif_fail(const struct prif_status *to, int code,
                                                     const char *format, ...);

/* STAT= and ERRMSG= of a call of the core, which has no STAT= where the program gave none, and so
 * ends the program itself. Afterwards prif_pass. */
#define PRIF_TEXT_ROOM 512
struct prif_core {
  struct caf_status to;
  int stat;
  char text[PRIF_TEXT_ROOM];
};
static inline const struct caf_status *prif_core(struct prif_core *core,
                                                 const struct prif_status *to) {
  core->stat = 0;
  core->to = (struct caf_status){to->stat ? &core->stat : NULL, core->text, sizeof core->text};
  return &core->to;
}

/* Gives the program the core's result, in codes of entry.h. */
void prif_pass_slow(const struct prif_status *to, const struct prif_core *core);
static inline void prif_pass(const struct prif_status *to, const struct prif_core *core) {
  if (__builtin_expect(core->stat != 0, 0))
    prif_pass_slow(to, core);
  else
    prif_done(to);
}

/* The code of entry.h for a code of the core, enum caf_stat, or 0. */
int prif_code_of(int caf_code);

/* ---- images */

/* Rank of an image of the initial team; UINT32_MAX after prif_fail where there is no such image. */
uint32_t prif_rank_slow(int32_t image_num, const struct prif_status *to);
static inline uint32_t prif_rank(const int32_t *image_num, const struct prif_status *to) {
  if (__builtin_expect((uint32_t)*image_num - 1u < caf.size, 1)) return (uint32_t)*image_num - 1u;
  return prif_rank_slow(*image_num, to);
}

/* The team of an argument: the current one where it is absent; NULL after prif_fail where it was
 * not formed. */
struct caf_team *prif_team_of(const prif_team *team, const struct prif_status *to);

/* The images of the initial team (-1), the current one, or one formed together with it. Returns how
 * many there are, 0 after prif_fail where there is no such team. [out] jobrank: [caf.size] their
 * ranks, or NULL. */
uint32_t prif_sibling(int64_t number, uint32_t *jobrank, const struct prif_status *to);

/* ---- coarrays */

/* An allocation: a coarray of the team that was current then. */
struct prif_block {
  struct prif_co *handles; /* the first, and its aliases */
  struct caf_team *team;
  prif_cleanup_fn *cleanup; /* or NULL */
  void *context;            /* of the program, on this image */
};

/* The object behind a handle: the block, or a part of it, with bounds. They live in one range of
 * addresses, and are used again, but never given back: so a handle that is not valid is found. */
struct prif_co {
  const struct prif_co *self; /* this; anything else: it is not in use */
  struct caf_token *token;    /* addresses on all ranks, bytes; shared with aliases */
  size_t offset;              /* of an alias into the data */
  struct prif_block *block;
  struct prif_co *next; /* handle of this block, or free */
  bool alias;
  int corank;
  int64_t lower[CAF_RANK_MAX], upper[CAF_RANK_MAX]; /* [corank] */
};

/* All that exist: [at, at + used). */
extern struct prif_handles {
  struct prif_co *at;
  size_t used; /* bytes */
} prif_handles;

/* The coarray of a handle; NULL after prif_fail where it is null or of no coarray that exists. */
struct prif_co *prif_coarray_slow(const void *handle, const struct prif_status *to);
static inline struct prif_co *prif_coarray(prif_handle handle, const struct prif_status *to) {
  const uintptr_t at = (uintptr_t)handle - (uintptr_t)prif_handles.at;
  if (__builtin_expect(at < prif_handles.used && at % _Alignof(struct prif_co) == 0 &&
                           handle->self == handle,
                       1))
    return handle;
  return prif_coarray_slow(handle, to);
}

/* END TEAM: runs the cleanup of the coarrays of a team and frees them. */
void prif_free_coarrays(struct caf_team *team);

#endif
