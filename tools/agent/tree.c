/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node of the tree of agents while it runs: frames up and down, rounds of the bootstrap, events
 * of supervisors. See tree.h.
 *
 * Owns: nothing global. Called by run_hosts.c, agent.c, tree_start.c. Calls: link, boot/supervise,
 * boot/ctl. Invariants: a round goes up once all parts of the subtree are there, and is complete
 * when it comes down; lengths off the wire are compared with those that the round must have.
 */
#include "agent/tree.h"

#include "agent/look.h"

#include "base/atomic.h"
#include "base/log.h"
#include "boot/page/ctl.h"
#include "os/os.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PULL_BYTES (1u << 20) /* read from a link in one step */
#define WAIT_MS    1000       /* pings are sent, and silence is noticed, about so often */
#define ENDING_S   5.0        /* an agent that is silent so long while a failed job ends is left */

static void push_all(struct tree *t) {
  if (t->host != TREE_ROOT) link_push(&t->up);
  for (uint32_t i = 0; i < t->children; i++)
    if (t->child[i].greeted) link_push(&t->child[i].link);
}

/* ---- events of supervisors */

static struct frame event_frame(const struct tmb_sup_event *event, uint32_t origin) {
  return (struct frame){
      .type = FRAME_EVENT, .a = origin, .bytes = sizeof *event, .data = (const char *)event};
}

/* Whether some rank of this node's part ends when another is lost: reported upwards when it
 * changes. */
static void send_policy(struct tree *t) {
  bool refuses = t->own_refuses;
  for (uint32_t i = 0; i < t->children; i++) refuses |= t->child[i].refuses;
  if (refuses == t->refuses_sent) return;
  t->refuses_sent = refuses;
  const struct tmb_sup_event event = {.kind = TMB_SUP_POLICY,
                                      .flags = refuses ? TMB_SUP_REFUSES : 0};
  if (t->host == TREE_ROOT) {
    tmb_supervise_apply(t->sup, &event);
    tree_send_down(t, event_frame(&event, TREE_ROOT));
  } else {
    link_send(&t->up, event_frame(&event, t->host));
  }
}

/* While a job that has failed ends, nobody waits long for an agent. */
static void note_end(struct tree *t, const struct tmb_sup_event *event) {
  const bool ends = event->kind == TMB_SUP_END || event->kind == TMB_SUP_ASK;
  if (ends && event->flags & TMB_SUP_FAILED && !t->failed_ns) t->failed_ns = tmb_os_now_ns();
}

void tree_notify(struct tree *t, const struct tmb_sup_event *event) {
  note_end(t, event);
  if (event->kind == TMB_SUP_POLICY) {
    t->own_refuses = event->flags & TMB_SUP_REFUSES;
    send_policy(t);
  } else if (t->host == TREE_ROOT) {
    tree_send_down(t, event_frame(event, TREE_ROOT));
  } else {
    link_send(&t->up, event_frame(event, t->host));
  }
  push_all(t); /* the caller may be about to stop itself */
}

/* While the ranks are stopped, so may be the launcher: nobody takes offence at silence. */
static void note_pause(struct tree *t, const struct tmb_sup_event *event) {
  if (event->kind != TMB_SUP_SIGNAL) return;
  if (event->code == SIGSTOP) t->paused = true;
  if (event->code == SIGCONT) t->paused = false;
}

static void event_came(struct tree *t, struct tree_child *from, const struct frame *f) {
  struct tmb_sup_event event;
  const bool for_us = !from || t->host == TREE_ROOT; /* and not before START */
  if (f->bytes != sizeof event || (for_us && !t->sup)) return;
  memcpy(&event, f->data, sizeof event);
  if (from && event.kind == TMB_SUP_POLICY) {
    from->refuses = event.flags & TMB_SUP_REFUSES;
    send_policy(t);
    return;
  }
  if (from && t->host != TREE_ROOT) {
    link_send(&t->up, *f);
    return;
  }
  note_pause(t, &event);
  note_end(t, &event);
  if (f->a != t->host) tmb_supervise_apply(t->sup, &event);
  tree_send_down(t, *f);
}

/* ---- rounds of the bootstrap */

/* Ranks of the hosts first..last. */
static uint32_t ranks_of(const struct tree *t, uint32_t first, uint32_t last) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < t->job.size; r++)
    count += t->job.host_of[r] >= first && t->job.host_of[r] <= last;
  return count;
}

/* All parts of the job, in the order of hosts, are here: the round is complete. */
static void complete(struct tree *t, const struct frame *all) {
  if (!t->launch) return; /* no rank of this host can be in a round yet */
  struct tmb_ctl *ctl = t->launch->ctl;
  if (all->bytes != t->job.size * all->a || all->a > TMB_CTL_PART_BYTES || all->b > 1) return;
  char *parts = tmb_ctl_parts(ctl, all->b);
  for (uint32_t i = 0; i < t->job.size; i++)
    memcpy(parts + (size_t)t->order[i] * all->a, all->data + (size_t)i * all->a, all->a);
  if (t->host != TREE_ROOT && ctl->here) tmb_ctl_complete(ctl);
}

/* Writes the parts of this host. */
static void pack_own(const struct tree *t, struct pack *p) {
  const struct tmb_ctl *ctl = t->launch->ctl;
  const char *parts = tmb_ctl_parts(ctl, ctl->part_slot);
  for (uint32_t i = 0; i < t->job.size; i++)
    if (t->job.host_of[t->order[i]] == t->host)
      pack_bytes(p, parts + (size_t)t->order[i] * ctl->part_bytes, ctl->part_bytes);
}

static bool all_parts_here(const struct tree *t) {
  if (t->host != TREE_ROOT && tmb_load_acq(&t->launch->ctl->asked) == t->rounds) return false;
  for (uint32_t i = 0; i < t->children; i++)
    if (!t->child[i].has_parts) return false;
  return true;
}

/* Passes a round on once every part of the subtree has come. in a, b: of the frames that brought
 * them; an agent takes those of its own ranks. */
static void try_round(struct tree *t, uint32_t a, uint32_t b) {
  struct pack p = {0};
  if (!t->launch || !all_parts_here(t)) return;
  if (t->host != TREE_ROOT) {
    tmb_supervise_policy(t->sup);
    a = t->launch->ctl->part_bytes;
    b = t->launch->ctl->part_slot;
    pack_own(t, &p);
    t->rounds++;
  }
  for (uint32_t i = 0; i < t->children; i++) {
    pack_bytes(&p, t->child[i].parts.data, t->child[i].parts.bytes);
    t->child[i].parts.bytes = 0;
    t->child[i].has_parts = false;
  }
  struct frame f = {.a = a, .b = b, .bytes = (uint32_t)p.bytes, .data = p.data};
  f.type = t->host == TREE_ROOT ? FRAME_ALL_PARTS : FRAME_PARTS;
  if (t->host == TREE_ROOT)
    tree_send_down(t, f);
  else
    link_send(&t->up, f);
  pack_free(&p);
}

static void parts_came(struct tree *t, struct tree_child *from, const struct frame *f) {
  if (from->has_parts || f->a > TMB_CTL_PART_BYTES ||
      f->bytes != ranks_of(t, from->first, from->last) * f->a) {
    tree_child_lost(t, from, "its agent sent what makes no sense");
    return;
  }
  pack_bytes(&from->parts, f->data, f->bytes);
  from->has_parts = true;
  try_round(t, f->a, f->b);
}

/* ---- frames */

static void host_lost_came(struct tree *t, const struct frame *f) {
  char why[TREE_WHY_BYTES];
  snprintf(why, sizeof why, "%.*s", (int)TMB_MIN(f->bytes, sizeof why - 1), f->data);
  tree_host_ended(t, f->a, why);
}

static void from_child(struct tree *t, struct tree_child *child, const struct frame *f) {
  switch (f->type) {
  case FRAME_EVENT: event_came(t, child, f); break;
  case FRAME_PARTS: parts_came(t, child, f); break;
  case FRAME_LOST: host_lost_came(t, f); break;
  case FRAME_READY:
  case FRAME_OUTPUT:
  case FRAME_CLOCK:
  case FRAME_TRACE:
  case FRAME_STATS:
  case FRAME_CRASH:
  case FRAME_INPUT_DONE: tree_send_up(t, *f); break;
  case FRAME_ASK:
  case FRAME_SEEN:
    if (t->host == TREE_ROOT)
      look_frame(t, f);
    else
      link_send(&t->up, *f);
    break;
  case FRAME_DONE:
    tree_send_up(t, *f);
    tree_host_ended(t, f->a, NULL);
    break;
  default: break;
  }
}

static void from_above(struct tree *t, const struct frame *f) {
  switch (f->type) {
  case FRAME_EVENT: event_came(t, NULL, f); break;
  case FRAME_ALL_PARTS:
    complete(t, f);
    tree_send_down(t, *f);
    break;
  case FRAME_START:
  case FRAME_CLOSED:
    tree_send_down(t, *f);
    t->frame(t, f);
    break;
  case FRAME_LOOK:
    tree_send_down(t, *f);
    look_frame(t, f);
    break;
  case FRAME_VIEW:
    if (f->a == t->host)
      look_frame(t, f);
    else
      tree_send_to(t, f->a, *f);
    break;
  case FRAME_CLOCK:
  case FRAME_TAKEN:
    if (f->a == t->host)
      t->frame(t, f);
    else
      tree_send_to(t, f->a, *f);
    break;
  case FRAME_INPUT:
    if (f->a >= t->job.size) break;
    if (t->job.host_of[f->a] == t->host)
      t->frame(t, f);
    else
      tree_send_to(t, t->job.host_of[f->a], *f);
    break;
  default: break;
  }
}

/* Whether nothing was heard for `limit_s`, of which only the time after `from_ns` counts. */
static bool is_silent(const struct tree *t, const struct link *l, uint64_t from_ns,
                      double limit_s) {
  return !t->paused && t->job.silence_s > 0 &&
         (double)(tmb_os_now_ns() - TMB_MAX(l->heard_ns, from_ns)) / 1e9 > limit_s;
}

/* Notices that this process has not run for longer than those below wait for it. */
static void note_absence(struct tree *t) {
  const uint64_t now = tmb_os_now_ns();
  const double passed_s = t->step_ns ? (double)(now - t->step_ns) / 1e9 : 0;
  t->step_ns = now;
  if (t->job.silence_s <= 0 || passed_s <= t->job.silence_s || t->paused) return;
  t->absent_s = passed_s;
  t->back_ns = now;
}

/* Gives a child up that has been silent for too long. */
static void check_silence(struct tree *t, struct tree_child *child) {
  char why[TREE_WHY_BYTES];
  if (t->failed_ns && is_silent(t, &child->link, t->failed_ns, ENDING_S)) {
    tmb_print("host %s: its agent does not answer; leaving it", t->job.host_name[child->first]);
    tree_child_lost(t, child, "its agent does not answer");
  } else if (is_silent(t, &child->link, t->back_ns, t->job.silence_s)) {
    snprintf(why, sizeof why, "its agent has said nothing for %g s (TOMBOLO_PEER_TIMEOUT)",
             t->job.silence_s);
    tree_child_lost(t, child, why);
  }
}

static void serve_child(struct tree *t, struct tree_child *child) {
  struct frame f;
  if (!child->greeted) return;
  if (!child->link.broken) link_pull(&child->link, PULL_BYTES);
  while (link_next(&child->link, &f)) from_child(t, child, &f);
  note_absence(t); /* it may have been stopped since this step began */
  char why[TREE_WHY_BYTES];
  snprintf(why, sizeof why,
           t->absent_s > 0 ? "this launcher did not run for %.1f s (it was stopped, or its machine "
                             "slept), longer than TOMBOLO_PEER_TIMEOUT, so its agents have ended"
                           : "the connection to its agent has ended",
           t->absent_s);
  if (child->link.broken)
    tree_child_lost(t, child, why);
  else
    check_silence(t, child);
}

/* START has passed, and its supervisor is not there yet: later frames, an end of the job for
 * instance, wait for that. */
static bool between(const struct tree *t) {
  return t->started && !t->sup;
}

void tree_step(struct tree *t) {
  struct frame f;
  note_absence(t);
  if (t->host != TREE_ROOT) {
    if (!t->up.broken) link_pull(&t->up, PULL_BYTES);
    while (!between(t) && link_next(&t->up, &f)) from_above(t, &f);
    if (is_silent(t, &t->up, 0, t->job.silence_s)) t->up.broken = true;
    if (t->up.broken) t->abandoned = true;
  }
  tree_start_watch(t);
  for (uint32_t i = 0; i < t->children; i++) serve_child(t, &t->child[i]);
  if (t->host != TREE_ROOT) try_round(t, 0, 0);
  look_step(t);
  push_all(t);
}

nfds_t tree_wait(struct tree *t, struct pollfd *fds, nfds_t max, int *timeout_ms) {
  nfds_t count = 0;
  if (*timeout_ms < 0 || *timeout_ms > WAIT_MS) *timeout_ms = WAIT_MS;
  if (between(t)) *timeout_ms = 0;
  if (t->host != TREE_ROOT) count += link_wait(&t->up, fds);
  for (uint32_t i = 0; i < t->children && count + 3 <= max; i++) {
    const struct tree_child *child = &t->child[i];
    count += link_wait(&child->link, fds + count);
    if (child->err_fd >= 0) fds[count++] = (struct pollfd){.fd = child->err_fd, .events = POLLIN};
  }
  count += look_wait(t->look, fds + count, max - count);
  return count;
}
