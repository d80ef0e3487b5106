/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks in front of a conduit, see hook.h.
 *
 * Owns: the hooks in use, and the slots that pass a call on. Called by core at start and then
 * through the tables. Calls: the kinds of hooks, the wrapped conduit's open. Invariant: hooks are
 * made from the innermost outwards, before the conduit opens, so that its first upcall finds all of
 * them.
 */
#include "net/hook/hook.h"

#include "base/compiler.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct tmb_hook_kind *const kinds[] = {&tmb_hook_trace, &tmb_hook_delay,
                                                    &tmb_hook_fault, &tmb_hook_number};
#define SPEC_BYTES 512 /* of a setting of a hook, with the NUL; chosen */
_Static_assert(TMB_ARRAY_LEN(kinds) == TMB_HOOKS, "each kind has an id");

/* ---- passing on */

static void pass_close(struct tmb_net *net) {
  struct tmb_hook *h = tmb_hook_of(net);
  h->inner->close(h->net);
}

static int pass_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->am_send(h->net, out);
}

static int pass_progress(struct tmb_net *net, int serve) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->progress(h->net, serve);
}

static void *pass_am_stage(struct tmb_net *net, struct tmb_am_out *out) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->am_stage(h->net, out);
}

static void pass_am_release(struct tmb_net *net, struct tmb_am_out *out) {
  struct tmb_hook *h = tmb_hook_of(net);
  h->inner->am_release(h->net, out);
}

static int pass_put(struct tmb_net *net, const struct tmb_rma *rma) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->put(h->net, rma);
}

static int pass_get(struct tmb_net *net, const struct tmb_rma *rma) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->get(h->net, rma);
}

static int pass_device_rma(struct tmb_net *net, const struct tmb_rma *rma, bool is_get) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->device_rma(h->net, rma, is_get);
}

static int pass_put_signal(struct tmb_net *net, const struct tmb_rma *rma,
                           const struct tmb_signal *signal) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->put_signal(h->net, rma, signal);
}

static int pass_get_signal(struct tmb_net *net, const struct tmb_rma *rma,
                           const struct tmb_signal *signal) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->get_signal(h->net, rma, signal);
}

static int pass_am_long(struct tmb_net *net, struct tmb_am_out *out) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->am_long(h->net, out);
}

static int pass_atomic(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->atomic(h->net, atomic);
}

static bool pass_offloads(struct tmb_net *net, uint32_t dt, uint32_t ops) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->offloads(h->net, dt, ops);
}

static uint32_t pass_wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max,
                              uint64_t *timeout_ns) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->wait_fds(h->net, fds, max, timeout_ns);
}

static bool pass_drained(struct tmb_net *net) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->drained(h->net);
}

static int pass_lost(struct tmb_net *net, uint32_t peer) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->lost ? h->inner->lost(h->net, peer) : 0;
}

static void pass_segment_freed(struct tmb_net *net, void *base, size_t nbytes) {
  struct tmb_hook *h = tmb_hook_of(net);
  h->inner->segment_freed(h->net, base, nbytes);
}

static bool pass_expose(struct tmb_net *net, void *base, size_t nbytes, struct tmb_net_key *key) {
  struct tmb_hook *h = tmb_hook_of(net);
  return h->inner->expose(h->net, base, nbytes, key);
}

static void pass_conceal(struct tmb_net *net, const struct tmb_net_key *key) {
  struct tmb_hook *h = tmb_hook_of(net);
  h->inner->conceal(h->net, key);
}

static void pass_explain(struct tmb_net *net, uint32_t peer, char *text, size_t bytes) {
  struct tmb_hook *h = tmb_hook_of(net);
  h->inner->explain(h->net, peer, text, bytes);
}

static void pass_leave(struct tmb_net *net, int code) {
  struct tmb_hook *h = tmb_hook_of(net);
  h->inner->leave(h->net, code);
}

static void pass_memory(const struct tmb_net_ops *inner, struct tmb_net_ops *table) {
  table->segment_freed = inner->segment_freed ? pass_segment_freed : NULL;
  table->expose = inner->expose ? pass_expose : NULL;
  table->conceal = inner->conceal ? pass_conceal : NULL;
}

static void pass_atomics(const struct tmb_net_ops *inner, struct tmb_net_ops *table) {
  table->atomic = inner->atomic ? pass_atomic : NULL;
  table->offloads = inner->offloads ? pass_offloads : NULL;
}

/* A table that passes calls on to `inner`. */
static struct tmb_net_ops pass_table(const struct tmb_net_ops *inner) {
  struct tmb_net_ops table = {.abi = inner->abi,
                              .name = inner->name,
                              .whole = inner->whole,
                              .close = pass_close,
                              .am_send = pass_am_send,
                              .progress = pass_progress,
                              .am_stage = inner->am_stage ? pass_am_stage : NULL,
                              .am_release = inner->am_release ? pass_am_release : NULL,
                              .put = inner->put ? pass_put : NULL,
                              .get = inner->get ? pass_get : NULL,
                              .put_signal = inner->put_signal ? pass_put_signal : NULL,
                              .get_signal = inner->get_signal ? pass_get_signal : NULL,
                              .device_rma = inner->device_rma ? pass_device_rma : NULL,
                              .am_long = inner->am_long ? pass_am_long : NULL,
                              .wait_fds = inner->wait_fds ? pass_wait_fds : NULL,
                              .drained = inner->drained ? pass_drained : NULL,
                              .lost = pass_lost,
                              .explain = inner->explain ? pass_explain : NULL,
                              .leave = inner->leave ? pass_leave : NULL};
  pass_memory(inner, &table);
  pass_atomics(inner, &table);
  return table;
}

/* ---- the setting */

static const struct tmb_hook_kind *kind_named(const char *name) {
  for (size_t i = 0; i < TMB_HOOKS; i++)
    if (!strcmp(kinds[i]->name, name)) return kinds[i];
  return NULL;
}

static const struct tmb_hook_option *option_named(const struct tmb_hook_kind *kind,
                                                  const char *name) {
  const struct tmb_hook_option *o = kind->options;
  while (o && o->name && strcmp(o->name, name) != 0) o++;
  return o && o->name ? o : NULL;
}

/* Set one option, "name=value". Returns false when that has no sense. */
static bool set_option(const struct tmb_hook_kind *kind, char *text, const struct tmb_net_up *up) {
  char *value = strchr(text, '='), *end = NULL;
  if (value) *value++ = 0;
  const struct tmb_hook_option *o = option_named(kind, text);
  errno = 0;
  const long long number = value ? strtoll(value, &end, 10) : 0;
  if (o && value && *value && !*end && !errno && number >= o->min && number <= o->max) {
    tmb_hooks.hook[kind->id].option[o - kind->options] = number;
    return true;
  }
  if (o)
    up->print("TOMBOLO_TEST_NET_HOOK: option %s of %s takes a number from %lld to %lld, not \"%s\"",
              text, kind->name, (long long)o->min, (long long)o->max, value ? value : "");
  else
    up->print("TOMBOLO_TEST_NET_HOOK: %s has no option \"%s\"", kind->name, text);
  return false;
}

/* "name:option=value,..", also with : for a comma. Returns the kind, with its options set, or NULL.
 */
static const struct tmb_hook_kind *parse(char *text, const struct tmb_net_up *up) {
  char *options = strchr(text, ':'), *save = NULL;
  if (options) *options++ = 0;
  const struct tmb_hook_kind *kind = kind_named(text);
  if (!kind) {
    up->print("TOMBOLO_TEST_NET_HOOK: no hook is named \"%s\"; there are trace, delay and fault",
              text);
    return NULL;
  }
  for (int i = 0; kind->options && kind->options[i].name; i++)
    tmb_hooks.hook[kind->id].option[i] = kind->options[i].usual;
  for (char *o = options ? strtok_r(options, ",:", &save) : NULL; o;
       o = strtok_r(NULL, ",:", &save))
    if (!set_option(kind, o, up)) return NULL;
  return kind;
}

/* The kinds that a spec names, the outermost first. Returns how many, or -1. */
static int parse_all(const char *spec, const struct tmb_net_up *up,
                     const struct tmb_hook_kind *found[TMB_HOOKS]) {
  char text[SPEC_BYTES], *save = NULL;
  int count = 0;
  if (strlen(spec) >= sizeof text) {
    up->print("TOMBOLO_TEST_NET_HOOK: longer than %zu characters", sizeof text - 1);
    return -1;
  }
  memcpy(text, spec, strlen(spec) + 1);
  for (char *t = strtok_r(text, "/", &save); t; t = strtok_r(NULL, "/", &save)) {
    const struct tmb_hook_kind *kind = parse(t, up);
    if (!kind) return -1;
    for (int i = 0; i < count; i++)
      if (found[i] == kind) {
        up->print("TOMBOLO_TEST_NET_HOOK: %s is named twice", kind->name);
        return -1;
      }
    found[count++] = kind;
  }
  return count;
}

int tmb_hooks_open(const char *spec, const struct tmb_net_env *env, const struct tmb_net_ops **ops,
                   struct tmb_net **net) {
  const struct tmb_hook_kind *found[TMB_HOOKS];
  struct tmb_hook *chain[TMB_HOOKS]; /* the innermost first */
  const int count = spec ? parse_all(spec, env->up, found) : 0;
  if (count < 0) return TMB_E_ARG;
  if (!count) return (*ops)->open(env, net);
  const struct tmb_net_ops *inner = *ops;
  for (int i = 0; i < count; i++) {
    struct tmb_hook *h = chain[i] = &tmb_hooks.hook[found[count - 1 - i]->id];
    h->inner = inner;
    h->table = pass_table(inner);
    h->rank = env->rank;
    h->size = env->size;
    h->hold = NULL;
    h->used[0] = h->used[1] = 0;
    inner = &h->table;
  }
  /* Upcalls go in the other direction: the innermost hook is called first. */
  const struct tmb_net_up *up = env->up;
  for (int i = count - 1; i >= 0; i--) {
    struct tmb_hook *h = chain[i];
    h->outer_up = up;
    h->up = *up;
    h->up.thread_work = NULL; /* hooks expect calls by the client's threads */
    found[count - 1 - i]->begin(h);
    up = &h->up;
  }
  tmb_hooks.inner_env = *env;
  tmb_hooks.inner_env.up = up;
  tmb_hooks.inner_env.thread_handlers[0] = 0; /* hooks see all messages */
  tmb_hooks.inner_env.thread_handlers[1] = 0;
  tmb_hooks.inner_env.thread_now = tmb_hooks.inner_env.thread_handlers;
  const int rc = (*ops)->open(&tmb_hooks.inner_env, &chain[0]->net);
  if (rc) return rc;
  for (int i = 1; i < count; i++) chain[i]->net = (struct tmb_net *)(void *)chain[i - 1];
  *ops = &chain[count - 1]->table;
  *net = (struct tmb_net *)(void *)chain[count - 1];
  return 0;
}
