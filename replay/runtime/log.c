/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a rank: written in a recording, read in a replay.
 *
 * Owns: the mapping, the table of sites. Called by order.c and start.c. Calls: mmap, dladdr1. A
 * recording maps a group of events at a time; the kernel writes them out also when the rank is
 * killed. Blocks are taken before they are mapped: a store to a full file system would end the
 * program. Invariants: the count of the head is raised after the event is whole; a site is
 * written when it has its first event; what this file maps is out of the way, so that the segments
 * of the program are where they were in the recording: it may read addresses in them.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SITES 4096u                    /* calls that can be named; power of two */
#define OWN   UINT64_C(0x200000000000) /* address of the first mapping of this file */

static struct {
  int sites_fd;
  uint32_t sites;
  struct {
    const void *pc;
    enum rpl_call call;
    uint16_t site;
  } known[SITES];
  struct rpl_place *places; /* replay: [sites], from 1 */
} log_;

static const char *const names[] = {
    "",
#define RPL_POINT(n, ret, name, ...) #name,
#define RPL_OTHER(name)              #name,
#include "replay/runtime/points.def"
#undef RPL_POINT
#undef RPL_OTHER
};

const char *rpl_call_name(enum rpl_call call) {
  return names[call];
}

/* in id: of a thread, 0: the file is of the rank. */
static int open_file(const char *name, uint32_t id, int flags) {
  char path[RPL_PATH_BYTES], last[16] = "";
  if (id) snprintf(last, sizeof last, ".%x", id);
  if (snprintf(path, sizeof path, "%s/%s.%u%s", rpl.folder, name, rpl.rank, last) >=
      (int)sizeof path)
    return -1;
  return open(path, flags | O_CLOEXEC, 0666);
}

/* Map memory, or a file (fd < 0: none), where the kernel places nothing by itself. Returns
 * MAP_FAILED as mmap does. */
static void *map_own(size_t bytes, int prot, int fd, off_t at) {
  static uint64_t after = OWN;
  const uint64_t next =
      __atomic_fetch_add(&after, (bytes + 0xffff) & ~UINT64_C(0xffff), __ATOMIC_RELAXED);
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void *map = mmap((void *)(uintptr_t)next, bytes, prot, flags | MAP_FIXED_NOREPLACE, fd, at);
  if (map == MAP_FAILED) map = mmap(NULL, bytes, prot, flags, fd, at);
  return map;
}

/* Take blocks of a file, up to a size. Returns whether there are so many, else errno. */
static bool take(int fd, uint64_t bytes) {
  errno = posix_fallocate(fd, 0, (off_t)bytes);
  return errno == 0;
}

/* Map a group for more events behind those that are there. */
static bool grow(struct rpl_log *l) {
  const uint64_t bytes = rpl_group_bytes(&l->head->is);
  const uint64_t at = RPL_HEAD_BYTES + l->count / l->head->is.group * bytes;
  if (l->sums) (void)munmap(l->sums, bytes);
  l->next = 0;
  l->sums = NULL;
  if (!take(l->fd, at + bytes)) return false;
  void *const map = map_own(bytes, PROT_READ | PROT_WRITE, l->fd, (off_t)at);
  if (map == MAP_FAILED) return false;
  l->sums = map;
  l->events = (void *)((char *)map + RPL_SUMS_BYTES);
  return true;
}

/* There are so many events. The older count is replaced: the newer one holds until then. */
static void has_counted(struct rpl_log *l, uint64_t events) {
  l->newer ^= 1;
  struct rpl_count *const c = &l->head->count[l->newer];
  __atomic_store_n(&c->hash, l->hash, __ATOMIC_RELEASE);
  __atomic_store_n(&c->events, events, __ATOMIC_RELEASE);
  l->count = events;
}

static uint64_t site_hash(uint32_t number, const char *call, uint64_t place, const char *module) {
  return rpl_site_hash(rpl.area->recording, rpl.rank, number, call, place, module);
}

/* A line of no call. */
static bool tell(const char *what, uint32_t id) {
  char line[128];
  const int n = snprintf(line, sizeof line, "0 %s 0x%llx %016llx -\n", what, (unsigned long long)id,
                         (unsigned long long)site_hash(0, what, id, "-"));
  return write(log_.sites_fd, line, (size_t)n) == n;
}

void rpl_log_no_order(void) {
  (void)tell(RPL_NO_ORDER, 0);
  fprintf(stderr,
          "tombolo: rank %u: several threads of Python call the library in turns: these calls have "
          "no order, and a replay may leave the recording\n",
          rpl.rank);
}

static void has_reached(struct rpl_log *l, uint64_t at) {
  __atomic_store_n(&l->head->reached.at, at, __ATOMIC_RELEASE);
  __atomic_store_n(&l->head->reached.again, ~at, __ATOMIC_RELEASE);
}

void rpl_log_reach(struct rpl_thread *t) {
  if (t->log.head) has_reached(&t->log, (uint64_t)t->run << 32 | t->repeat);
}

bool rpl_log_create_at(struct rpl_log *l, const char *name, uint32_t id) {
  l->fd = open_file(name, id, O_RDWR | O_CREAT | O_TRUNC);
  if (l->fd < 0 || !take(l->fd, RPL_HEAD_BYTES)) return false;
  void *const head = map_own(RPL_HEAD_BYTES, PROT_READ | PROT_WRITE, l->fd, 0);
  if (head == MAP_FAILED) return false;
  l->head = head;
  l->head->is = (struct rpl_identity){.magic = RPL_MAGIC,
                                      .event_bytes = (uint32_t)sizeof(struct rpl_event),
                                      .rank = rpl.rank,
                                      .ranks = rpl.ranks,
                                      .group = id ? RPL_GROW_THREAD : RPL_GROW_EVENTS,
                                      .thread = id,
                                      .recording = rpl.area->recording};
  (void)snprintf(l->head->is.name, sizeof l->head->is.name, "%s", name);
  l->hash = rpl_block_hash(&l->head->is, 0);
  has_counted(l, 0);
  has_counted(l, 0);
  has_reached(l, 0);
  return (!id || tell(RPL_THREAD_FILE, id)) && grow(l);
}

bool rpl_log_create(void) {
  log_.sites_fd = open_file("sites", 0, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  log_.sites = 1;
  return log_.sites_fd >= 0 && rpl_log_create_at(&rpl_first.log, "rank", 0);
}

static void no_room(void) {
  fprintf(stderr, "tombolo: rank %u: the recording ends here: no room for more events: %s\n",
          rpl.rank, strerror(errno));
  rpl.mode = RPL_OFF;
}

void rpl_log_append_to(struct rpl_log *l, const struct rpl_event *event) {
  if (l->next && l->next % RPL_BLOCK_EVENTS == 0) {
    l->sums[l->next / RPL_BLOCK_EVENTS - 1] = l->hash;
    l->hash = rpl_block_hash(&l->head->is, l->count / RPL_BLOCK_EVENTS);
  }
  if (l->next == l->head->is.group && !grow(l)) {
    no_room();
    return;
  }
  l->events[l->next++] = *event;
  l->before = l->hash;
  l->hash = rpl_hash(l->hash, event, sizeof *event);
  has_counted(l, l->count + 1);
}

void rpl_log_repeat(struct rpl_log *l) {
  struct rpl_event *const last = &l->events[l->next - 1], event = *last;
  event.run++;
  l->hash = rpl_hash(l->before, &event, sizeof event);
  has_counted(l, l->count); /* before the event: each of the counts holds for a state of it */
  __atomic_store_n(&last->run, event.run, __ATOMIC_RELEASE);
}

void rpl_log_append(struct rpl_thread *t, const struct rpl_event *event) {
  const bool is_new = !t->log.head;
  if (is_new && !rpl_log_create_at(&t->log, "rank", t->id)) {
    no_room();
    return;
  }
  if (is_new) rpl_log_reach(t);
  rpl_log_append_to(&t->log, event);
}

void rpl_log_close(struct rpl_log *l) {
  if (!l->head) return;
  has_counted(l, l->count);
  l->head->ended = rpl_end_mark(&l->head->count[l->newer]);
  (void)ftruncate(l->fd, (off_t)rpl_file_bytes(&l->head->is, l->count));
}

/* ---- calls of the program */

static void place_of(enum rpl_call call, const void *pc, struct rpl_place *out) {
  Dl_info info;
  struct link_map *map = NULL;
  memset(out, 0, sizeof *out);
  snprintf(out->call, sizeof out->call, "%s", names[call]);
  if (!pc || !dladdr1(pc, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return;
  out->offset = (uintptr_t)pc - map->l_addr;
  snprintf(out->module, sizeof out->module, "%s", map->l_name);
  if (*map->l_name) return;
  const ssize_t length = readlink("/proc/self/exe", out->module, sizeof out->module - 1);
  out->module[length > 0 ? length : 0] = '\0';
}

void rpl_here(const struct rpl_thread *t, struct rpl_place *out) {
  place_of(t->call, t->pc, out);
}

uint16_t rpl_log_site(const struct rpl_thread *t) {
  uint64_t h = (uintptr_t)t->pc * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  uint32_t at = (uint32_t)(h >> 40) & (SITES - 1);
  while (log_.known[at].site && (log_.known[at].pc != t->pc || log_.known[at].call != t->call))
    at = (at + 1) & (SITES - 1);
  if (log_.known[at].site || log_.sites == SITES / 2) return log_.known[at].site;
  struct rpl_place place;
  char line[RPL_PATH_BYTES + 128];
  rpl_here(t, &place);
  const uint64_t hash = site_hash(log_.sites, place.call, place.offset, place.module);
  const int n = snprintf(line, sizeof line, "%u %s 0x%llx %016llx %s\n", log_.sites, place.call,
                         (unsigned long long)place.offset, (unsigned long long)hash, place.module);
  if (write(log_.sites_fd, line, (size_t)n) != n) return 0;
  log_.known[at].pc = t->pc;
  log_.known[at].call = t->call;
  log_.known[at].site = (uint16_t)log_.sites++;
  return log_.known[at].site;
}

/* ---- replay */

static bool read_sites(void) {
  const int fd = open_file("sites", 0, O_RDONLY);
  FILE *const in = fd >= 0 ? fdopen(fd, "r") : NULL;
  void *const places = map_own(SITES * sizeof *log_.places, PROT_READ | PROT_WRITE, -1, 0);
  if (!in || places == MAP_FAILED) return false;
  log_.places = places;
  unsigned number;
  unsigned long long offset, hash;
  struct rpl_place p;
  memset(&p, 0, sizeof p);
  while (fscanf(in, "%u %47s 0x%llx %llx %1023[^\n]", &number, p.call, &offset, &hash, p.module) ==
         5) {
    p.offset = offset;
    if (number && number < SITES) log_.places[number] = p;
  }
  fclose(in);
  return true;
}

/* Behind the events of a rank that was killed comes the call that it was in. */
static void add_cut(struct rpl_log *l, uint64_t file_bytes) {
  const uint64_t at = l->head->reached.at, group = l->head->is.group;
  if (l->count % group && rpl_file_bytes(&l->head->is, l->count + 1) > file_bytes) return;
  l->events[l->count++] =
      (struct rpl_event){.run = (uint32_t)(at >> 32), .repeat = (uint32_t)at, .kind = RPL_CUT};
}

/* Map the events of a file in a row. in cut: with one more behind them. Returns whether it has so
 * many. */
static bool map_events(struct rpl_log *l, uint64_t file_bytes, bool cut) {
  const struct rpl_identity *const is = &l->head->is;
  const struct rpl_count *const c = l->head->count;
  const uint64_t group = (uint64_t)is->group * sizeof(struct rpl_event);
  l->count = c[c[0].events < c[1].events].events;
  if (l->count > file_bytes || rpl_file_bytes(is, l->count) > file_bytes) return false;
  if (!l->count && !cut) return true;
  const uint64_t groups = (l->count + is->group - 1) / is->group;
  const int prot = PROT_READ | PROT_WRITE;
  char *const at = map_own(groups * group + RPL_HEAD_BYTES, prot, -1, 0); /* with room for it */
  for (uint64_t i = 0; at != MAP_FAILED && i < groups; i++)
    if (mmap(at + i * group, group, prot, MAP_PRIVATE | MAP_FIXED, l->fd,
             (off_t)(RPL_HEAD_BYTES + i * rpl_group_bytes(is) + RPL_SUMS_BYTES)) == MAP_FAILED)
      return false;
  if (at == MAP_FAILED) return false;
  l->events = (void *)at;
  if (cut) add_cut(l, file_bytes);
  return true;
}

bool rpl_log_open_at(struct rpl_log *l, const char *name, uint32_t id) {
  struct stat st;
  l->fd = open_file(name, id, O_RDONLY);
  if (l->fd < 0 || fstat(l->fd, &st) != 0 || st.st_size < (off_t)RPL_HEAD_BYTES) return false;
  void *const map = map_own(RPL_HEAD_BYTES, PROT_READ, l->fd, 0);
  if (map == MAP_FAILED) return false;
  l->head = map;
  const struct rpl_identity *const is = &l->head->is;
  return is->magic == RPL_MAGIC && is->event_bytes == sizeof(struct rpl_event) &&
         is->rank == rpl.rank && is->ranks == rpl.ranks && is->group &&
         map_events(l, (uint64_t)st.st_size, !l->head->ended && strcmp(name, "rank") == 0);
}

bool rpl_log_open(void) {
  return rpl_log_open_at(&rpl_first.log, "rank", 0) && read_sites();
}

const struct rpl_event *rpl_log_next_of(const struct rpl_thread *t) {
  const struct rpl_log *const l = &t->log;
  const uint64_t next = rpl_log_number_of(t);
  return l->head && next < l->count ? &l->events[next] : NULL;
}

bool rpl_log_has_end(void) {
  return rpl_first.log.head->ended != 0;
}

uint64_t rpl_log_number_of(const struct rpl_thread *t) {
  return __atomic_load_n(&t->log.next, __ATOMIC_RELAXED);
}

void rpl_log_step_of(struct rpl_thread *t) {
  __atomic_store_n(&t->log.next, t->log.next + 1, __ATOMIC_RELAXED);
  rpl_moved();
}

void rpl_log_place(uint16_t site, struct rpl_place *out) {
  if (site < SITES)
    *out = log_.places[site];
  else
    memset(out, 0, sizeof *out);
}
