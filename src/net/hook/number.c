/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hook `number`: messages of clients are numbered, so that record and replay know each again.
 *
 * Owns the numbers that were given last, one series for the requests to a peer and one for the
 * replies. Called through its table and upcalls. Calls: the wrapped conduit. A network delivers
 * messages of one sender in any order. The number is one argument more, behind those of the client,
 * and a bit of the route says that it is there; the target takes both off. A Long that core sends
 * in parts has one number, and each part has it. Invariants: a number is used up once the conduit
 * has taken its message, or the first part of it; messages of the library have TMB_NO_NUMBER.
 */
#include "net/hook/hook.h"

#include <stdlib.h>
#include <string.h>

static struct tmb_hook *const self = &tmb_hooks.hook[TMB_HOOK_NUMBER];

static int send_numbered(struct tmb_am_out *out,
                         int (*send)(struct tmb_net *net, struct tmb_am_out *out)) {
  struct tmb_resume *const part = out->handler < TMB_HANDLER_FIRST ? out->resume : NULL;
  if (out->handler < TMB_HANDLER_FIRST && !part) return send(self->net, out);
  uint32_t *const last = &self->numbers[2 * (size_t)out->peer + out->is_reply];
  const uint32_t number = part && part->started ? part->id : *last + 1;
  const int32_t *const args = out->args;
  int32_t more[TMB_AM_ARGS_SENT];
  if (out->nargs) memcpy(more, args, out->nargs * sizeof *more);
  more[out->nargs++] = (int32_t)number;
  out->args = more;
  out->route |= TMB_ROUTE_NUMBERED;
  const int rc = send(self->net, out);
  out->route &= (uint16_t)~TMB_ROUTE_NUMBERED;
  out->args = args;
  out->nargs--;
  if (rc == 0 && !(part && part->started)) ++*last;
  if (rc == 0 && part) *part = (struct tmb_resume){.id = number, .started = true};
  return rc;
}

static int am_send(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net;
  return send_numbered(out, self->inner->am_send);
}

static int am_long(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net;
  if (out->handler < TMB_HANDLER_FIRST) return self->inner->am_long(self->net, out);
  return send_numbered(out, self->inner->am_long);
}

/* A message as it is without its number. */
static struct tmb_am_in taken_off(const struct tmb_am_in *in) {
  struct tmb_am_in own = *in;
  own.number = TMB_NO_NUMBER;
  if (in->route & TMB_ROUTE_NUMBERED && in->nargs) {
    own.route &= (uint16_t)~TMB_ROUTE_NUMBERED;
    own.number = (uint32_t)in->args[--own.nargs];
  }
  return own;
}

static void up_am(const struct tmb_am_in *in) {
  const struct tmb_am_in own = taken_off(in);
  self->outer_up->am(&own);
}

static void up_by_thread(const struct tmb_am_in *in) {
  const struct tmb_am_in own = taken_off(in);
  self->outer_up->am_by_thread(&own);
}

static void close_numbered(struct tmb_net *net) {
  (void)net;
  self->inner->close(self->net);
  free(self->numbers);
  self->numbers = NULL;
}

static void begin(struct tmb_hook *hook) {
  hook->numbers = calloc(2 * (size_t)hook->size, sizeof *hook->numbers);
  if (!hook->numbers) hook->outer_up->fatal("no memory for numbers of %u ranks", hook->size);
  hook->up.am = up_am;
  hook->up.am_by_thread = up_by_thread;
  hook->table.close = close_numbered;
  hook->table.am_send = am_send;
  if (hook->table.am_long) hook->table.am_long = am_long;
}

const struct tmb_hook_kind tmb_hook_number = {
    .name = "number", .id = TMB_HOOK_NUMBER, .begin = begin};
