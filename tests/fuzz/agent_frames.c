/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzer: what agents send each other through ssh: frames in any pieces, the job that a launcher
 * sends, and what a node of the tree does with frames from above and from below. */
#define _GNU_SOURCE /* pipe2 */

#include "../../tools/agent/tree.h"
#include "boot/page/ctl.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS 4u
#define HOSTS 3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tmb_launch launch;
static int nowhere;

/* The tree does nothing below that this file would need. */
static void frame_came(struct tree *tree, const struct frame *f) {
  unsigned sum = 0;
  for (uint32_t i = 0; i < f->bytes; i++) sum += (unsigned char)f->data[i];
  tree->arg = sum ? tree : NULL;
}

static void lost(struct tree *tree, uint32_t host, const char *why) {
  if (host < tree->first || host > tree->last || !why) abort();
}

/* A pipe that holds the input. Returns its end to read. */
static int pipe_of(const uint8_t *data, size_t size) {
  int ends[2];
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC)) abort();
  if (size && write(ends[1], data, size) != (ssize_t)size) abort();
  close(ends[1]);
  return ends[0];
}

static void job(const uint8_t *data, size_t size) {
  struct pack in = pack_reader(data, size), out = {0};
  struct tree_job got, again;
  uint32_t first, last, other[2];
  if (tree_job_unpack(&in, &got, &first, &last)) {
    if (first > last || last >= got.hosts) abort();
    tree_job_pack(&got, first, last, &out);
    in = pack_reader(out.data, out.bytes);
    if (!tree_job_unpack(&in, &again, &other[0], &other[1]) || again.size != got.size) abort();
    tree_job_free(&again);
    pack_free(&out);
  }
  tree_job_free(&got);
}

/* Frames in pieces are the frames in one piece. */
static void pieces(const uint8_t *data, size_t size, size_t piece) {
  struct link whole, parts;
  struct frame f, g;
  int ends[2];
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC)) abort();
  link_open(&whole, pipe_of(data, size), dup(nowhere));
  link_open(&parts, ends[0], dup(nowhere));
  link_pull(&whole, size);
  size_t at = 0;
  while (link_next(&whole, &f)) {
    bool there = link_next(&parts, &g);
    for (; !there && at < size; there = link_next(&parts, &g)) {
      const size_t n = TMB_MIN(piece, size - at);
      if (write(ends[1], data + at, n) != (ssize_t)n) abort();
      at += n;
      link_pull(&parts, n);
    }
    if (!there || f.type != g.type || f.bytes != g.bytes || memcmp(f.data, g.data, f.bytes))
      abort();
  }
  close(ends[1]);
  link_close(&whole);
  link_close(&parts);
}

/* A node: the root, or an agent in the middle; without a launch, or with one. */
static void node(const uint8_t *data, size_t size, uint32_t host, bool from_above, bool launched) {
  static uint32_t host_of[RANKS] = {0, 1, 2, 1};
  static char *names[HOSTS + 1] = {(char *)"a", (char *)"b", (char *)"c", NULL};
  struct tree t = {.job = {.size = RANKS, .hosts = HOSTS, .host_of = host_of, .host_name = names},
                   .host = host,
                   .first = host == TREE_ROOT ? 0 : host,
                   .last = HOSTS - 1,
                   .frame = frame_came,
                   .launch = launched ? &launch : NULL,
                   .lost = lost};
  tree_open(&t);
  t.child[0] = (struct tree_child){
      .first = host == TREE_ROOT ? 0 : 1, .last = HOSTS - 1, .greeted = true, .err_fd = -1};
  t.children = 1;
  link_open(&t.up, pipe_of(data, from_above ? size : 0), dup(nowhere));
  link_open(&t.child[0].link, pipe_of(data, from_above ? 0 : size), dup(nowhere));
  for (int i = 0; i < 2; i++) tree_step(&t);
  pack_free(&t.child[0].parts);
  link_close(&t.up);
  link_close(&t.child[0].link);
  free(t.child);
  free(t.host_state);
  free(t.order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint32_t host_of[RANKS] = {0, 1, 2, 1};
  if (!launch.ctl) {
    const struct tmb_ctl_job ctl = {
        .size = RANKS, .hosts = HOSTS, .host_of = host_of, .only_host = 0};
    int fd;
    if (tmb_ctl_create(&ctl, false, &fd, &launch.ctl)) abort();
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  }
  if (size < 2 || size > 16384) return 0;
  const uint8_t how = data[0];
  data++;
  size--;
  if (how % 4 == 0) job(data, size);
  if (how % 4 == 1) pieces(data, size, 1 + how / 4);
  if (how % 4 >= 2) node(data, size, how & 8 ? TREE_ROOT : 0, how % 4 == 2, (how & 4) != 0);
  return 0;
}
