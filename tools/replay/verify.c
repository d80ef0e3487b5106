/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a recording is whole: what a replay reads is what was written.
 *
 * Owns nothing. Called by replay.c, before a rank starts. Calls: mmap. Every file of every rank is
 * read once: its head, the hash of each block of events, the order of its groups, each line of
 * `sites.N`, and that nothing is behind them. The first thing that is wrong is printed, with file
 * and byte. A rank that was killed has a file with room behind its events, where the event that it
 * was about to write may stand. Invariant: a file that passes has no event that a rank did not
 * write, at another place, or in another recording.
 */
#define _GNU_SOURCE
#include "replay/replay.h"
#include "tool.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of a recording, mapped. */
struct file {
  const char *folder;
  char path[PATH_MAX];
  const char *at; /* NULL: it has no bytes */
  uint64_t bytes;
  uint32_t sites; /* lines that its events may name */
  uint64_t sites_bytes;
};

static bool damaged(const struct file *f, uint64_t at, const char *what) {
  tmb_print("run: --replay %s: the recording is damaged: %s, byte %llu: %s", f->folder, f->path,
            (unsigned long long)at, what);
  return false;
}

/* Map the file f->path. in length: of the path. Returns false after a message, or if `may_lack` and
 * there is none. */
static bool map_file(struct file *f, int length, bool may_lack) {
  struct stat st = {0};
  f->at = NULL;
  errno = ENAMETOOLONG;
  const int fd = length < PATH_MAX ? open(f->path, O_RDONLY | O_CLOEXEC) : -1;
  bool is_open = fd >= 0 && fstat(fd, &st) == 0;
  f->bytes = (uint64_t)st.st_size;
  if (is_open && f->bytes) {
    void *const map = mmap(NULL, f->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    is_open = map != MAP_FAILED;
    if (is_open) f->at = map;
  }
  if (!is_open && !may_lack)
    tmb_print("run: --replay %s: the recording is damaged: %s: %s", f->folder, f->path,
              strerror(errno));
  if (fd >= 0) close(fd);
  return is_open;
}

/* in id: of a thread; 0: the file is of the rank. As map_file. */
static bool open_file(struct file *f, const char *name, uint32_t rank, uint32_t id, bool may_lack) {
  char last[16] = "";
  if (id) snprintf(last, sizeof last, ".%x", id);
  return map_file(f, snprintf(f->path, sizeof f->path, "%s/%s.%u%s", f->folder, name, rank, last),
                  may_lack);
}

static void close_file(struct file *f) {
  if (f->at) (void)munmap((void *)(uintptr_t)f->at, f->bytes);
  f->at = NULL;
}

/* Whether all bytes are zero in a part of a file. */
static bool is_empty(const struct file *f, uint64_t from, uint64_t to, const char *what) {
  if (to > f->bytes) to = f->bytes;
  for (uint64_t i = from; i < to; i++)
    if (f->at[i]) return damaged(f, i, what);
  return true;
}

/* ---- events */

static const struct rpl_head *head_of(const struct file *f) {
  return (const void *)f->at;
}

static uint64_t events_of(const struct rpl_head *h) {
  return h->count[h->count[0].events < h->count[1].events].events;
}

/* in first: the head of the file of rank 0. */
static bool check_head(const struct file *f, const char *name, uint32_t rank, uint32_t id,
                       const struct rpl_head *first) {
  if (f->bytes < RPL_HEAD_BYTES) return damaged(f, f->bytes, "the file ends in its head");
  const struct rpl_head *const h = head_of(f);
  struct rpl_identity is = first->is;
  is.rank = rank;
  is.thread = id;
  is.group = id ? RPL_GROW_THREAD : RPL_GROW_EVENTS;
  memset(is.name, 0, sizeof is.name);
  memcpy(is.name, name, strlen(name));
  if (memcmp(&is, &h->is, sizeof is) != 0)
    return damaged(f, 0, "the head is that of another file, or of another recording");
  const uint64_t events = events_of(h);
  if (events > f->bytes || rpl_file_bytes(&is, events) > f->bytes)
    return damaged(f, f->bytes, "the file ends before its events");
  if (!rpl_reached_holds(h))
    return damaged(f, offsetof(struct rpl_head, reached), "the position of its end is wrong");
  if (!is_empty(f, sizeof *h, RPL_HEAD_BYTES, "not zero, in the unused part of the head"))
    return false;
  if (!h->ended) return true;
  if (memcmp(&h->count[0], &h->count[1], sizeof *h->count) != 0)
    return damaged(f, offsetof(struct rpl_head, count), "the two counts are not the same");
  if (h->ended != rpl_end_mark(h->count))
    return damaged(f, offsetof(struct rpl_head, ended), "the mark of its end is wrong");
  if (rpl_file_bytes(&is, events) != f->bytes)
    return damaged(f, rpl_file_bytes(&is, events), "bytes behind its end");
  return true;
}

/* The hash of events of a block that begin at a byte. */
static uint64_t hash_of(const struct file *f, uint64_t block, uint64_t at, uint64_t events) {
  return rpl_hash(rpl_block_hash(&head_of(f)->is, block), f->at + at,
                  events * sizeof(struct rpl_event));
}

/* Whether the head has this hash of the last block. */
static bool is_newest(const struct rpl_head *h, uint64_t events, uint64_t hash) {
  for (int i = 0; i < 2; i++)
    if (h->count[i].events == events && h->count[i].hash == hash) return true;
  return false;
}

/* The calls that events name are known. in at: of the first event. */
static bool check_sites(const struct file *f, uint64_t at, uint64_t events) {
  const struct rpl_event *const e = (const void *)(f->at + at);
  for (uint64_t i = 0; i < events; i++) {
    if (e[i].site <= f->sites) continue;
    struct file sites = {.folder = f->folder};
    snprintf(sites.path, sizeof sites.path, "%s/sites.%u", f->folder, head_of(f)->is.rank);
    return damaged(&sites, f->sites_bytes, "a line is missing that an event needs");
  }
  return true;
}

/* A group with so many events. in number: from 0; last: no other one follows that has events. */
static bool check_group(const struct file *f, uint64_t number, uint64_t events, bool last) {
  const struct rpl_head *const h = head_of(f);
  const uint64_t base = RPL_HEAD_BYTES + number * rpl_group_bytes(&h->is);
  const uint64_t *const sums = (const void *)(f->at + base);
  const uint64_t blocks = (events + RPL_BLOCK_EVENTS - 1) / RPL_BLOCK_EVENTS;
  for (uint64_t b = 0; b < blocks; b++) {
    const uint64_t at = base + RPL_SUMS_BYTES + b * RPL_BLOCK_EVENTS * sizeof(struct rpl_event);
    const uint64_t left = events - b * RPL_BLOCK_EVENTS;
    const uint64_t here = left < RPL_BLOCK_EVENTS ? left : RPL_BLOCK_EVENTS;
    const uint64_t hash = hash_of(f, number * (h->is.group / RPL_BLOCK_EVENTS) + b, at, here);
    const bool newest = last && b == blocks - 1;
    const bool right = newest ? is_newest(h, events_of(h), hash) : sums[b] == hash;
    if (!right) return damaged(f, at, "the events from here on do not have their checksum");
    if (newest && sums[b] && (here < RPL_BLOCK_EVENTS || sums[b] != hash))
      return damaged(f, base + b * sizeof *sums, "a checksum of no block");
    if (!check_sites(f, at, here)) return false;
  }
  return is_empty(f, base + blocks * sizeof *sums, base + RPL_SUMS_BYTES, "a checksum of no block");
}

/* Behind the events of a rank that was killed there is at most one that it was about to write. */
static bool check_rest(const struct file *f) {
  const struct rpl_head *const h = head_of(f);
  const uint64_t events = events_of(h), groups = events / h->is.group;
  uint64_t at = RPL_HEAD_BYTES + groups * rpl_group_bytes(&h->is);
  if (h->ended) return true;
  if (events % h->is.group == 0 && !is_empty(f, at, at + RPL_SUMS_BYTES, "a checksum of no block"))
    return false;
  at += RPL_SUMS_BYTES + (events % h->is.group + 1) * sizeof(struct rpl_event);
  return is_empty(f, at, f->bytes, "not zero, behind the last event");
}

static bool check_events(const struct file *f) {
  const struct rpl_head *const h = head_of(f);
  const uint64_t events = events_of(h), groups = (events + h->is.group - 1) / h->is.group;
  if (!events && !is_newest(h, 0, rpl_block_hash(&h->is, 0)))
    return damaged(f, offsetof(struct rpl_head, count), "the count is wrong");
  for (uint64_t g = 0; g < groups; g++) {
    const uint64_t left = events - g * h->is.group;
    if (!check_group(f, g, left < h->is.group ? left : h->is.group, g == groups - 1)) return false;
  }
  return check_rest(f);
}

static bool check_file(const struct file *of, const char *name, uint32_t rank, uint32_t id,
                       const struct rpl_head *first, bool may_lack) {
  struct file f = *of;
  if (!open_file(&f, name, rank, id, may_lack)) return may_lack;
  const bool is_whole = check_head(&f, name, rank, id, first) && check_events(&f);
  close_file(&f);
  return is_whole;
}

/* ---- calls, and threads */

/* A line of `sites.N`. */
struct site {
  unsigned number;
  char call[RPL_NAME_BYTES], module[RPL_PATH_BYTES];
  unsigned long long place, hash;
};

/* The line at a byte, to its end. Returns whether it is one that was written so. */
static bool read_site(const char *text, uint64_t recording, uint32_t rank, struct site *s) {
  char again[RPL_PATH_BYTES + 160];
  if (sscanf(text, "%u %47s 0x%llx %16llx %1023[^\n]", &s->number, s->call, &s->place, &s->hash,
             s->module) != 5)
    return false;
  snprintf(again, sizeof again, "%u %s 0x%llx %016llx %s\n", s->number, s->call, s->place, s->hash,
           s->module);
  return strcmp(again, text) == 0 &&
         s->hash == rpl_site_hash(recording, rank, s->number, s->call, s->place, s->module);
}

/* A line of no call. */
static bool check_other(const struct file *f, const struct site *s, uint32_t rank,
                        const struct rpl_head *first) {
  if (strcmp(s->call, RPL_THREAD_FILE) == 0)
    return check_file(f, "rank", rank, (uint32_t)s->place, first, false);
  if (strcmp(s->call, RPL_NO_ORDER) == 0)
    tmb_print("run: --replay %s: rank %u: calls of several threads of Python have no order",
              f->folder, rank);
  return true;
}

/* One line after the other: calls are counted, the files of threads are checked. out f->sites. */
static bool check_lines(struct file *f, FILE *in, uint32_t rank, const struct rpl_head *first) {
  char *text = NULL;
  size_t room = 0;
  uint64_t at = 0;
  bool is_whole = true;
  struct site s;
  for (ssize_t n; is_whole && (n = getline(&text, &room, in)) > 0; at += (uint64_t)n) {
    is_whole = strlen(text) == (size_t)n && read_site(text, first->is.recording, rank, &s) &&
               (!s.number || s.number == f->sites + 1);
    if (!is_whole) (void)damaged(f, at, "the line does not have its checksum");
    if (is_whole && s.number) f->sites++;
  }
  f->sites_bytes = at;
  rewind(in);
  while (is_whole && getline(&text, &room, in) > 0)
    if (read_site(text, first->is.recording, rank, &s) && !s.number)
      is_whole = check_other(f, &s, rank, first);
  free(text);
  return is_whole;
}

/* Whether a rank has an order of locks: in Python none has. */
static bool has_locks(const struct file *of, uint32_t ranks) {
  struct file f = *of;
  bool found = false;
  for (uint32_t r = 0; !found && r < ranks; r++) found = open_file(&f, "locks", r, 0, true);
  close_file(&f);
  return found;
}

static bool check_rank(struct file *f, uint32_t rank, const struct rpl_head *first, bool locks) {
  f->sites = 0;
  f->sites_bytes = 0;
  if (!open_file(f, "sites", rank, 0, false)) return false;
  const bool has_bytes = f->at != NULL;
  close_file(f);
  FILE *const in = fopen(f->path, "re");
  const bool is_whole = !has_bytes || (in && check_lines(f, in, rank, first));
  if (in) fclose(in);
  return is_whole && check_file(f, "rank", rank, 0, first, false) &&
         check_file(f, "sends", rank, 0, first, false) &&
         check_file(f, "takes", rank, 0, first, false) &&
         (!locks || check_file(f, "locks", rank, 0, first, false));
}

/* The file that names the program. */
static bool check_program(struct file *f, uint64_t recording) {
  char seal[REPLAY_SEAL_BYTES];
  if (!map_file(f, snprintf(f->path, sizeof f->path, "%s/program", f->folder), false)) return false;
  bool is_whole = f->bytes > sizeof seal;
  if (is_whole) {
    const uint64_t hash =
        replay_program_hash(recording, f->at + sizeof seal, f->bytes - sizeof seal);
    snprintf(seal, sizeof seal, "%016llx", (unsigned long long)hash);
    is_whole = memcmp(seal, f->at, sizeof seal) == 0;
  }
  close_file(f);
  return is_whole || damaged(f, 0, "the text does not have its checksum");
}

bool replay_is_whole(const char *folder, const struct rpl_head *first) {
  struct file f = {.folder = folder, .sites = UINT16_MAX};
  if (!check_file(&f, "rank", 0, 0, first, false)) return false; /* before its head is believed */
  bool is_whole = check_program(&f, first->is.recording);
  const bool locks = has_locks(&f, first->is.ranks);
  for (uint32_t r = 0; is_whole && r < first->is.ranks; r++)
    is_whole = check_rank(&f, r, first, locks);
  return is_whole;
}
