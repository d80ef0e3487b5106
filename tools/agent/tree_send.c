/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding in a node of the tree of agents: frames up and down, and the ends of hosts.
 *
 * Owns: nothing global. Called by tree.c, tree_start.c, look.c, far_trace.c. Calls: link.c.
 * Invariants: each host ends once, in order or lost; every loss is reported to the root.
 */
#include "agent/tree.h"

#include <string.h>

void tree_send_up(struct tree *t, struct frame f) {
  if (t->host == TREE_ROOT)
    t->frame(t, &f);
  else
    link_send(&t->up, f);
}

void tree_send_down(struct tree *t, struct frame f) {
  for (uint32_t i = 0; i < t->children; i++)
    if (t->child[i].greeted) link_send(&t->child[i].link, f);
}

void tree_send_to(struct tree *t, uint32_t host, struct frame f) {
  for (uint32_t i = 0; i < t->children; i++)
    if (t->child[i].first <= host && host <= t->child[i].last) link_send(&t->child[i].link, f);
}

bool tree_below_ended(const struct tree *t) {
  for (uint32_t h = t->first; h <= t->last; h++)
    if (h != t->host && t->host_state[h] < TREE_DONE) return false;
  return true;
}

void tree_host_ended(struct tree *t, uint32_t host, const char *why) {
  if (host < t->first || host > t->last || t->host_state[host] >= TREE_DONE) return;
  t->host_state[host] = why ? TREE_LOST : TREE_DONE;
  if (!why) return;
  if (t->host == TREE_ROOT)
    t->lost(t, host, why);
  else
    link_send(
        &t->up,
        (struct frame){.type = FRAME_LOST, .a = host, .bytes = (uint32_t)strlen(why), .data = why});
}

void tree_child_lost(struct tree *t, struct tree_child *child, const char *why) {
  child->link.broken = true;
  for (uint32_t h = child->first; h <= child->last; h++)
    tree_host_ended(t, h, h == child->first ? why : "");
}
