/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hook conduits: tables that wrap another one, to trace its calls or to disturb them.
 *
 * Owns: struct tmb_hook, a hook in use; struct tmb_hooks, the state of all (state.c); declarations
 * of this folder. tmb_hooks_open is called by core, once, in place of the conduit's open. Calls:
 * the wrapped conduit. A setting names hooks, the outermost first, with options:
 * "trace/fault:seed=7,again=20". A hook starts as a table that passes everything on (hook.c),
 * replaces the slots that it is about, and may give the conduit another table of upcalls; nothing
 * else knows of it. Slots that the conduit leaves empty stay empty, so that core fills them as
 * without hooks. Invariants: each kind is in use at most once in a process, because upcalls have no
 * argument that names a hook; a hook keeps the contract of net.h towards both sides.
 */
#ifndef TMB_NET_HOOK_H
#define TMB_NET_HOOK_H

#include "base/compiler.h"
#include "net/net.h"

enum tmb_hook_id { TMB_HOOK_TRACE, TMB_HOOK_DELAY, TMB_HOOK_FAULT, TMB_HOOK_NUMBER, TMB_HOOKS };

#define TMB_HOOK_OPTIONS 6 /* most of one kind; fixed by the options of fault.c */

/* A hook in use. */
struct tmb_hook {
  const struct tmb_net_ops *inner; /* the wrapped table */
  struct tmb_net *net;             /* state of that */
  struct tmb_net_ops table;        /* the table for its user */
  struct tmb_net_up up;            /* upcalls for the wrapped conduit */
  const struct tmb_net_up *outer_up;
  uint32_t rank, size;
  struct tmb_hold *hold;            /* of tmb_hold_begin, else NULL */
  int64_t option[TMB_HOOK_OPTIONS]; /* in the order of the kind's options */
  int64_t used[2];                  /* fault.c: credits of requests, of replies; atomic */
  uint32_t *numbers;                /* number.c: [size][2] of the last request, reply; owned */
};

/* State of this process's hooks. Written by hook.c, but for fields that name another file. */
struct tmb_hooks {
  struct tmb_hook hook[TMB_HOOKS];
  struct tmb_net_env inner_env; /* the conduit keeps the address */
  uint64_t drawn;               /* random.c: numbers so far; atomic */
};
extern struct tmb_hooks tmb_hooks TMB_HIDDEN;

static inline struct tmb_hook *tmb_hook_of(struct tmb_net *net) {
  return (struct tmb_hook *)(void *)net;
}

/* Replace slots of a hook's table that the conduit fills and the hook has its own for. */
static inline void tmb_hook_replace(struct tmb_net_ops *table, const struct tmb_net_ops *own) {
  if (table->am_stage && own->am_stage) table->am_stage = own->am_stage;
  if (table->am_long) table->am_long = own->am_long;
  if (table->put) table->put = own->put;
  if (table->get) table->get = own->get;
  if (table->put_signal) table->put_signal = own->put_signal;
  if (table->get_signal) table->get_signal = own->get_signal;
  if (table->atomic) table->atomic = own->atomic;
}

/* The slots of accesses in the table of a hook that has functions of these names. */
#define TMB_HOOK_ACCESSES \
 .put = put, .get = get, .put_signal = put_signal, .get_signal = get_signal, .atomic = atomic_op

/* A number that may be given to a hook. */
struct tmb_hook_option {
  const char *name; /* NULL ends the list */
  int64_t usual;    /* the default */
  int64_t min, max;
};

struct tmb_hook_kind {
  const char *name;
  enum tmb_hook_id id;
  const struct tmb_hook_option *options;
  /* Replace slots of hook->table and hook->up; options are set. */
  void (*begin)(struct tmb_hook *hook);
};

extern const struct tmb_hook_kind tmb_hook_trace, tmb_hook_delay, tmb_hook_fault, tmb_hook_number;

/* Open a conduit under hooks; collective, as its own open. in spec: as above, NULL or empty: no
 * hooks; inout ops: the conduit's table, then the one to be used in its place. Returns as open; a
 * spec that is not understood is an error that has been printed. */
int tmb_hooks_open(const char *spec, const struct tmb_net_env *env, const struct tmb_net_ops **ops,
                   struct tmb_net **net);

/* A number that looks random, the next of this process; the sequence follows from the seed and the
 * rank. Any thread. */
uint64_t tmb_hook_random(const struct tmb_hook *hook, int64_t seed);

/* ---- hold.c: messages that have arrived and are delivered later. One queue serves one hook. */

/* Give the hook a queue, and slots of its table that serve it: wait_fds, lost, close. */
void tmb_hold_begin(struct tmb_hook *hook);

/* Keep a copy of a message until `due_ns` of the monotonic clock. Returns false when too much is
 * kept already, or there is no memory: the message is to be delivered now. */
bool tmb_hold_put(struct tmb_hold *hold, const struct tmb_am_in *in, uint64_t due_ns);

/* Hand up the messages that are due, in the order of the due times. Returns TMB_FOUND_ bits. */
int tmb_hold_progress(struct tmb_hold *hold, int serve);

#endif
