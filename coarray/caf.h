/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The coarray run-time library: its state, and the functions that its files call of each other.
 *
 * Owns: struct caf, one per process. Included by every file of coarray/. Calls: the public headers
 * of the library, nothing else. Invariants: images are numbered from 1 in the current team; ranks
 * from 0 in the job; a token lists the address of the coarray on every rank of the job; all of the
 * memory that other images may touch lies in the bound segment.
 */
#ifndef CAF_H
#define CAF_H

#include "abi.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

/* real(16) of gfortran. On ARM and RISC-V that is C's long double, of which there is no kind 10. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 caf_real16;
#else
typedef long double caf_real16;
#endif
_Static_assert(sizeof(caf_real16) == 16, "real(16)");

struct caf_token;
struct caf_attach_list;
struct caf_attach_copy;
struct caf_accessor;

/* Arguments of a member of the parent in FORM TEAM. */
struct caf_entry {
  int64_t number;
  uint32_t index; /* in its team, from 1; 0: in the order of the parent */
  bool lost;      /* it knows of the loss of an image */
};

/* Words of a member of a team that the others read. */
struct caf_words {
  uint64_t begun; /* collectives of the team that this image has begun */
  uint64_t slot;  /* its word for the others in caf_share */
  /* Serial number of the coarray that barrier number k deallocates, at [k % 2], and the low bits of
   * k: k << 32 | serial. */
  uint64_t freed[2];
  /* Outcome of barrier number k, counted by `begun`, at [k % 2]: 2 * k + 1: the layer completed
   * it; 2 * k: it was cut short by the loss of an image, or done without the layer. */
  uint64_t outcome[2];
};

/* A team of images. The initial one has number -1, and identity as its table. */
struct caf_team {
  struct caf_team *parent, *formed_before; /* the second: NULL for the first formed */
  gex_TM_t tm;                             /* GEX_TM_INVALID: formed after the loss of an image */
  int64_t number;
  uint32_t size, rank;        /* rank: of this image in it, from 0 */
  uint32_t *jobrank;          /* [size] */
  struct caf_entry *siblings; /* [size of parent] arguments of each of its members, or NULL */
  struct caf_words *words;    /* of this image, in the segment */
  uintptr_t *words_at;        /* [size] addresses of the members' */
  struct caf_token *coarrays; /* allocated while it was the current team */
  uint32_t registered;        /* coarrays allocated so far */
  uint32_t losses_seen;       /* caf.lost_count when members_lost was found out */
  uint64_t given;             /* caf.teams_given when FORM TEAM gave it last */
  bool members_lost;
  bool repeats;  /* every image of the parent has formed a team together with this one */
  bool given_up; /* gexx_TM_Abandon was called for tm: an image has ended normally */
};

/* A coarray, or a component (type CAF_REGISTER_ONLY, for which `addr` has no entries). */
struct caf_token {
  struct caf_token *next, **link; /* in the list of its team; link NULL: in none */
  struct caf_token *names;        /* CAF_MAP_EXISTING tokens of its memory, by next */
  void *base;                     /* of this image; NULL: not allocated */
  uint32_t serial;                /* of a coarray, in its team, equal on all images */
  size_t bytes;
  size_t char_bytes;     /* of an element of a coarray of characters; else 0 */
  size_t elem_bytes;     /* of an element; 0: not known */
  int elem_type, rank;   /* enum caf_type, 0: not known; rank: 0 of a scalar and of a static one */
  struct caf_desc *desc; /* of the variable or component; may end with its procedure */
  void **token_p;        /* where the program keeps this token; may end, too */
  int type;              /* enum caf_register, CAF_OF_ASKER or CAF_OF_SELF */
  uint32_t asker;        /* CAF_OF_ASKER: the rank, where base is an address */
  void *owner;           /* of a client of this library: its data about the coarray */
  uint32_t ranks;        /* entries of addr and of here */
  uint64_t sizes;        /* caf_sizes_of; never 0 */
  uintptr_t *here;       /* [ranks] places in this process, if known; else 0 */
  uintptr_t addr[];      /* [ranks] of the job, as the owners see them; 0: no member */
};

/* Types of a token that stands for the image that asks an accessor, and is this one;
 * data/accessor.h. */
enum { CAF_OF_ASKER = -1, CAF_OF_SELF = -2 };

/* Bytes of a coarray and of an element, if each fits into half of a word; else CAF_NO_SIZES. */
enum { CAF_NO_SIZES = 1 };
static inline uint64_t caf_sizes_of(size_t bytes, size_t elem_bytes) {
  return bytes && bytes <= UINT32_MAX && elem_bytes <= UINT32_MAX
             ? (uint64_t)bytes << 32 | (uint64_t)elem_bytes
             : CAF_NO_SIZES;
}

/* Kind of a word that the compiler passes as a token of a component (component.c). FREED: it was
 * one, or points into one. */
enum caf_component { CAF_NO_COMPONENT, CAF_COMPONENT, CAF_COMPONENT_FREED };
enum caf_component caf_component_is(const void *word);

/* A token of a component; NULL: no memory. */
struct caf_token *caf_component_new(void);
void caf_component_free(struct caf_token *t);

/* The mark of a thread inside this library: inside.h. */
struct caf_mark {
  uint32_t inside; /* the program is; atomic */
  uint32_t taken;  /* the serving thread is; atomic */
  uint32_t depth;  /* of nested calls of the program */
  bool fences;     /* the program runs a fence */
};

/* Addresses of a segment, as its rank sees it, behind each of which lie CAF_BOUND_BLOCK bytes of
 * it: in these an accessor may find a further address. */
struct caf_bound {
  uintptr_t low, bytes;
};
enum { CAF_BOUND_BLOCK = 512 };

struct caf {
  struct caf_team *team; /* current; caf_team_enter sets it and the next three */
  /* For the short forms of accesses: images of the initial team, or of another one; 0: it is not
   * current, or an image is lost. */
  uint32_t images, renumbered_images;
  const uint32_t *renumbered; /* jobrank of the current team */
  uint32_t size, rank;        /* of the job */
  int image;                  /* rank + 1 */
  gex_TM_t tm;                /* of the job */
  struct caf_team initial;
  struct caf_team *formed; /* the team formed last, of all that this image has formed */
  uint64_t teams_given;    /* by FORM TEAM */
  gex_Client_t client;
  gex_EP_t ep;
  gex_AD_t ad32, ad64;
  char *segment;
  uintptr_t segment_bytes;
  struct caf_shared *shared; /* of this image, at the start of its segment */
  uintptr_t *shared_addr;    /* [size] addresses of the others' */
  uint64_t *expected;        /* [size] sync images: posts of each image that were waited for */
  int *lost;                 /* [size] 0, or CAF_STAT_STOPPED or CAF_STAT_FAILED: it is lost */
  uint32_t lost_count;
  const uint32_t *changes, *changes_seen; /* caf_has_reports of pending.h */
  uint8_t *reach;          /* [size] enum in pending.h: whether memory of a rank is mapped */
  ptrdiff_t *delta;        /* [size] from addresses of a rank whose memory is mapped to ours */
  struct caf_bound *bound; /* [size] segments that are mapped where they lie; else empty */
  struct caf_accessor *accessors; /* [accessor_count]; accessor.h */
  uint32_t accessor_count;
  uint32_t asked;           /* requests of other images that are to be served; remote.c */
  bool (*answer)(void);     /* serves them; set before the first may come */
  uint32_t pending;         /* of enum in pending.h: conditions that an access has to check first */
  const uint64_t *attached; /* [size] attach_word of each rank: 0: it has attached no event */
  struct caf_attach_list *attach_list;  /* own; attach.c */
  struct caf_attach_copy **attach_copy; /* [size] copies of the others' lists, or NULL */
  uint64_t *waiting;                    /* event that this image waits for, or NULL */
  uint32_t woken;                       /* times that CAF_LOSS was added to it */
  uint32_t posts_open;                  /* posts that their owners may not know yet; post.c */
  uint8_t events;                       /* enum caf_events in post.h: how events are posted */
  bool ready, ending;
  bool ordered;              /* recorded or replayed: others' memory is accessed by calls alone */
  bool shown;                /* a trace or a checker follows the statements */
  struct caf_mark mark;      /* inside.h */
  int32_t until_poll;        /* accesses: caf_poll_is_due of pending.h */
  int32_t until_serve;       /* statements of loops that wait: caf_serve_is_due of pending.h */
  bool serves;               /* a thread serves accessors while the program computes: inside.h */
  bool wide_teams;           /* numbers of teams have 64 bits: PRIF */
  bool began, settled;       /* `init` has returned; the signal is back: caf_settle */
  bool allocate_stat;        /* ALLOCATE has had STAT=: the SYNC ALL behind it may fail */
  pthread_t flusher;         /* the thread in caf_flush_all */
  sigjmp_buf *flush_end;     /* of that thread, while it may be locked out: flush.c */
  gexx_WaitInfo_t statement; /* of the program, that runs now or ran last: CAF_STATEMENT */
};
extern struct caf caf;

/* Changes the current team. */
static inline void caf_team_enter(struct caf_team *team) {
  caf.team = team;
  const uint32_t images = caf.lost_count ? 0 : team->size;
  const bool initial = team == &caf.initial;
  caf.renumbered = team->jobrank;
  caf.images = initial ? images : 0;
  caf.renumbered_images = initial ? 0 : images;
}

/* Whether the calling thread is the one that serves; serve.c. */
extern _Thread_local bool caf_is_server __attribute__((tls_model("initial-exec")));

/* Added to the counter of an image that will post no more, and, while this image waits, to the
 * event that it waits for: so a wait for a signal ends. Counts stay below. */
#define CAF_LOSS ((uint64_t)1 << 48)

/* Part of each segment, at its start, that other images access. */
struct caf_shared {
  uint64_t arrived;     /* images that have come to their end: each adds 1 to all images' */
  uint64_t ended;       /* images that have ended normally for others: each adds 1 to all images' */
  uint64_t at_end;      /* of this image: 1: it has come to its end */
  uint64_t state;       /* of this image: 0 running for others, CAF_STAT_STOPPED */
  uint64_t attach_list; /* address of the list of attached sections (attach.c) */
  uint64_t attach_word; /* this image's word about it for the others */
  /* [size] sync images: posts by each rank, CAF_LOSS when it is lost; [size] attach_word of each.
   */
  uint64_t word[];
};

/* Starts the library at the first call, from a constructor or from `init`. */
void caf_start(int *argc, char ***argv);

/* The program begins: as caf_start, where needed, and waits for all images. Once. */
void caf_enter(int *argc, char ***argv);

/* Before the layer starts: where libgfortran has started before, as in programs that call PRIF,
 * take SIGQUIT from it. The layer leaves handlers of a program alone. */
void caf_free_quit(void);

/* Puts a handler of SIGQUIT, which writes buffered output, in front of that of the layer. */
void caf_catch_quit(void);

/* Once, when the program runs: libgfortran's start, which comes after `init`, has taken the signal
 * by which the launcher ends the other images; give it back, or each would print a backtrace. */
void caf_settle_slow(void);
static inline void caf_settle(void) {
  if (__builtin_expect(!caf.settled, 0)) caf_settle_slow();
}

/* Names the statement of the program that this call is; at the begin of functions that compiled
 * programs call and that may wait. */
#define CAF_STATEMENT(name) \
 (caf.statement.call = (name), caf.statement.caller = __builtin_return_address(0))

/* Purpose of the statement's wait. */
struct caf_shown {
  unsigned needs;                /* GEXX_WAIT_* */
  int polls;                     /* 1: a loop that polls `home` */
  gex_Rank_t peer, home;         /* GEX_RANK_INVALID: none */
  gex_Event_t event;             /* that the loop tests, or GEX_EVENT_INVALID */
  const struct caf_token *token; /* the awaited object, or NULL */
  const uint64_t *word;          /* of this image, in a coarray that is waited for, or NULL */
};

/* Shows the wait of this image to `tombolo why`; shown.c. Between begin and end caf.statement.peer
 * may change. */
void caf_show_begin(const struct caf_shown *s);
void caf_show_end(void);

/* Destination of an image error: STAT= and ERRMSG= of the statement. */
struct caf_status {
  int *stat;
  char *errmsg;
  size_t errmsg_len;
};

/* Ends a statement well: STAT= becomes 0. */
static inline void caf_ok(int *stat) {
  if (stat) *stat = 0;
}

/* Ends a statement badly: sets STAT= and ERRMSG=, or ends the program with the message. The format
 * ends in the number of the message, as [TMB-2001], which ERRMSG= is spared. */
__attribute__((format(printf, 3, 4))) void caf_fail(const struct caf_status *to, int code,
                                                    const char *format, ...);

/* Print head and text, of `len` bytes, as one line on stderr, in one write: the C library writes
 * formatted texts of more than 128 bytes in pieces, between which other images may write. */
void caf_print(const char *head, const char *text, size_t len);

/* Print why the program cannot start. The caller ends it. */
__attribute__((format(printf, 1, 2))) void caf_refuse(const char *format, ...);

/* Name in a message for the image because of which a statement of a team has failed with `code`:
 * "image 2 of the initial team", and how many others there are. Returns `to` [room]. */
const char *caf_ended_images(const struct caf_team *team, int code, char *to, size_t room);
#define CAF_ENDED_ROOM 64

/* Words for a STAT code in a message. */
static inline const char *caf_end_name(int code) {
  return code == CAF_STAT_FAILED ? "failed" : "ended normally and cannot take part";
}

/* Writes the buffered output of Fortran's units and C's streams, which the end of a process does
 * not write. Gives up units that are locked for a second: by a statement of input or output that
 * this image has not finished. */
void caf_flush_all(void);

/* Writes the buffered output of Fortran's units. Also from a signal handler. */
void caf_flush_units(void);

/* Makes caf_flush_all call this, too; NULL: no more. */
void caf_flush_by(void (*flush)(void));

/* Normal end: writes buffered output, reports the end of this image to all, and waits for the
 * others. The caller then returns from main, or is within exit(code). */
void caf_leave(int code);

/* Writes buffered output, and ends this image: normally; all images; as one that fails. */
__attribute__((noreturn)) void caf_stop(int code);
__attribute__((noreturn)) void caf_error_stop(int code);
__attribute__((noreturn)) void caf_fail_image(void);

/* Memory of the segment: aligned to 64 bytes; NULL when there is not enough. */
void caf_heap_init(void *base, size_t bytes);
void *caf_heap_alloc(size_t bytes);
void caf_heap_free(void *memory);

/* Marks memory until it is freed; whether an address is that of memory which is marked. */
void caf_heap_mark(void *memory);
bool caf_heap_is_marked(const void *memory);
size_t caf_heap_largest(void);

/* Makes the empty list of attached sections. Returns 0 or CAF_STAT_ERROR. */
int caf_attach_init(void);

/* Rank in the job of an image of the current team, of which the coarray `of` is accessed (NULL:
 * none is); 0: this image, if `zero_is_own`. UINT32_MAX, after caf_fail, when there is no such
 * image. gfortran passes 0 for atomic variables, events and locks without an image index. */
uint32_t caf_rank_slow(int image, bool zero_is_own, const struct caf_token *of,
                       const struct caf_status *to);
static inline uint32_t caf_rank_of(const struct caf_token *of, int image,
                                   const struct caf_status *to) {
  const struct caf_team *team = caf.team;
  if (__builtin_expect((uint32_t)image - 1u < team->size, 1)) return team->jobrank[image - 1];
  return caf_rank_slow(image, true, of, to);
}
/* Whether a rank has failed, after caf_fail. Asked where a statement has STAT=; polls. */
bool caf_failed_slow(uint32_t rank, const struct caf_status *to);
static inline bool caf_failed(uint32_t rank, const struct caf_status *to) {
  return __builtin_expect(to->stat != NULL, 0) && caf_failed_slow(rank, to);
}
/* Checks an image number for data, of which gfortran gives the number of this image, too.
 * UINT32_MAX, after caf_fail, also when the statement has STAT= and the image has failed. */
static inline uint32_t caf_rank_there(const struct caf_token *of, int image,
                                      const struct caf_status *to) {
  const struct caf_team *team = caf.team;
  if (__builtin_expect((uint32_t)image - 1u >= team->size, 0))
    return caf_rank_slow(image, false, of, to);
  const uint32_t rank = team->jobrank[image - 1];
  return caf_failed(rank, to) ? UINT32_MAX : rank;
}
static inline uint32_t caf_rank(int image, const struct caf_status *to) {
  return caf_rank_of(NULL, image, to);
}

/* Address on a rank of `offset` bytes into a coarray, where an element of `bytes` begins. Calls
 * caf_fail and returns NULL when the coarray does not exist there, or is shorter. */
void *caf_address_slow(const struct caf_token *token, size_t offset, size_t bytes, uint32_t rank,
                       const struct caf_status *to);
static inline void *caf_address(const struct caf_token *token, size_t offset, size_t bytes,
                                uint32_t rank, const struct caf_status *to) {
  if (__builtin_expect(token && rank < token->ranks && token->addr[rank] && offset < token->bytes,
                       1))
    return (void *)(token->addr[rank] + offset);
  return caf_address_slow(token, offset, bytes, rank, to);
}

/* The coarray of the current team, or of those around it, that has this byte of this image; NULL:
 * there is none. Allocatable and pointer components are none. */
const struct caf_token *caf_token_at(const char *address);

/* Name of a coarray in a message: "coarray NAME" where the program's symbols name it, else "a
 * coarray". Returns `to` [room]. */
const char *caf_name_of(const struct caf_token *token, char *to, size_t room);
#define CAF_NAME_ROOM 80

/* Waits for `until` posts of an event of this image and takes them; sets STAT= and ERRMSG= of the
 * statement `name`. */
void caf_consume(uint64_t *word, int until, const char *name, const struct caf_status *to);

/* A collective of the team begins: the others may see that this image takes part. */
static inline void caf_begin(struct caf_team *team) {
  __atomic_store_n(&team->words->begun, team->words->begun + 1, __ATOMIC_RELEASE);
}

/* Begins a collective and waits for its event. Returns 0, or when an image will never take part:
 * CAF_STAT_STOPPED or CAF_STAT_FAILED. Then, too, the layer uses none of the buffers any more. */
int caf_wait_event_slow(gex_Event_t event, struct caf_team *team);
static inline int caf_wait_event(gex_Event_t event, struct caf_team *team) {
  caf_begin(team);
  const bool well = event == GEX_EVENT_INVALID && caf.lost_count == 0;
  return __builtin_expect(well, 1) ? 0 : caf_wait_event_slow(event, team);
}

/* Begins a collective and waits until every member that is not lost has begun it, too. Needs no
 * gex_TM_t. Returns as caf_wait_event. */
int caf_meet(struct caf_team *team);

/* Reads the slots of the members that are not lost, after a collective. One collective. [out] all:
 * [size], 0 for the lost. Returns as caf_wait_event. */
int caf_read_slots(struct caf_team *team, uint64_t *all);

/* Every member sends a number to all that are not lost. [out] all: [size], 0 for the lost. Two
 * collectives. Returns as caf_wait_event. */
int caf_share(struct caf_team *team, uint64_t mine, uint64_t *all);

/* Makes the words of a new team, whose table of ranks is there; collective over `parent`, or NULL
 * for the initial team. Returns 0 or a STAT code. */
int caf_words_init(struct caf_team *team, struct caf_team *parent);

/* State of a rank of the job: 0, CAF_STAT_STOPPED or CAF_STAT_FAILED. */
int caf_state_of(uint32_t rank);

/* STAT code of a team: CAF_STAT_STOPPED if a member has ended normally, else CAF_STAT_FAILED if one
 * has failed, else 0. */
int caf_team_state(const struct caf_team *team);

/* Whether the layer can do collectives of a team: it was made by it, no member is lost, and none
 * was given up. */
bool caf_team_whole_slow(struct caf_team *team);
static inline bool caf_team_whole(struct caf_team *team) {
  const bool made = team->tm != GEX_TM_INVALID && !team->given_up;
  if (__builtin_expect(caf.lost_count == 0 && made, 1)) return true;
  return caf_team_whole_slow(team);
}

/* Barrier of the members that are left. Returns as caf_wait_event, equal on all of them. */
int caf_barrier(struct caf_team *team);

/* The team statements. in new_index: NULL: as in the parent. */
void caf_form_team(int64_t number, struct caf_team **team, const int *new_index,
                   const struct caf_status *to);
void caf_change_team(struct caf_team *team, const struct caf_status *to);
void caf_end_team(const struct caf_status *to);

/* Begin of END TEAM: a barrier. Returns the team, whose coarrays are still there, or NULL after
 * caf_fail. */
struct caf_team *caf_end_team_begin(const struct caf_status *to);
void caf_sync_team(struct caf_team *team, const struct caf_status *to);

/* The current or initial team, by its number; NULL after caf_fail. */
const struct caf_team *caf_sibling(int64_t number, const struct caf_status *to);

/* The images of a team formed together with the current one. Returns how many there are, 0: there
 * is no such team. [out] jobrank: [size of the parent], or NULL. */
uint32_t caf_sibling_images(int64_t number, uint32_t *jobrank);

/* Whether FORM TEAM has made this team, or it is the initial one. A TEAM_TYPE variable that is not
 * set holds any word: gfortran 12 gives it no first value. Takes longer for older teams. */
bool caf_team_formed(const struct caf_team *team);

/* Number of a team variable, NULL: of the current team; ends the program where it is not set. */
int64_t caf_number_of(const struct caf_team *team);

/* Rank in the job of an image of a team: *team_p, else that of *number, else the current one.
 * UINT32_MAX after caf_fail. */
uint32_t caf_rank_in(int image, void *const *team_p, const int *number,
                     const struct caf_status *to);

/* The same in the numbers of the current team; 0: the image is none of it, or is to be found by
 * caf_rank_in. Calls nothing of the layer. */
int caf_image_slow(int image, void *const *team_p, const int *number);
static inline bool caf_is_current(void *const *team_p, const int *number) {
  return team_p ? *team_p == caf.team : *number == caf.team->number;
}
static inline int caf_image_in(int image, void *const *team_p, const int *number) {
  return caf_is_current(team_p, number) ? image : caf_image_slow(image, team_p, number);
}

/* Makes this image answer requests of accessors (remote.c). */
void caf_remote_start(void);

/* A coarray of the current team, collective: memory of any value, save for locks and events. NULL
 * after caf_fail, with CAF_STAT_ERROR where an image has no memory. */
struct caf_token *caf_coarray_new(size_t bytes, int type, const struct caf_status *to);

/* Before a coarray is freed: a barrier of its team, which checks that the next image frees this
 * coarray, too. Returns as caf_barrier, or CAF_STAT_ERROR after caf_fail. Then, without
 * communication, caf_coarray_free. */
int caf_meet_to_free(const struct caf_token *t, const struct caf_status *to);
void caf_coarray_free(struct caf_token *t);

/* Frees the coarrays of a team that ends. */
void caf_team_free_coarrays(struct caf_team *team);

#endif
