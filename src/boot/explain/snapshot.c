/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots of a job, see snapshot.h.
 *
 * Owns: no state. Called as snapshot.h says. Calls: ctl, os, /proc. A thread that waits for
 * something which nobody announces wakes every millisecond or so and sleeps again: a page whose
 * thread seems awake is read again a few times.
 */
#define _GNU_SOURCE
#include "boot/explain/snapshot.h"

#include "base/atomic.h"
#include "base/error.h"
#include "os/os.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define READINGS   8       /* of a page whose threads seem awake */
#define READING_NS 700000u /* between them */

static bool sleeps(const struct tmb_status *s) {
  for (int i = 0; i < TMB_STATUS_WAITS; i++)
    if (s->wait[i].thread && s->wait[i].state != TMB_WAIT_NONE) return true;
  return false;
}

/* Copy a page. A rank that runs is not waited for. */
static void read_page(struct tmb_seen *seen, const struct tmb_status *page) {
  for (int i = 0; i < READINGS; i++) {
    memcpy(&seen->status, page, sizeof seen->status);
    if (sleeps(page) || seen->process != 'S' || !page->wait[0].thread) break;
    (void)tmb_os_nsleep(READING_NS);
  }
  if (seen->status.layout != TMB_STATUS_LAYOUT) memset(&seen->status, 0, sizeof seen->status);
}

/* The rings' positions, from the memory that the rank has open. */
static void read_rings(struct tmb_seen *seen) {
  const struct tmb_status_rings *r = &seen->status.rings;
  char path[64];
  if (!r->ready || !seen->process) return;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)seen->pid, r->fd);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  for (int i = 0; fd >= 0 && i < 2; i++) {
    uint64_t tail = 0;
    const uint64_t head = r->handled[i];
    if (pread(fd, &tail, sizeof tail, (off_t)r->offset[i]) != (ssize_t)sizeof tail) break;
    if (tail >= head && tail - head <= r->slots[i]) seen->queued[i] = tail - head;
    seen->passed += tail;
  }
  if (fd >= 0) close(fd);
}

/* Descriptor and offset from which the process has mapped the address. in line: of /proc/PID/maps.
 * Returns the offset in the file with inode *inode, or -1 if the line is of another range. */
static int64_t mapped_at(const char *line, uint64_t addr, uint64_t *inode) {
  unsigned long long low, high, offset, number;
  if (sscanf(line, "%llx-%llx %*s %llx %*s %llu", &low, &high, &offset, &number) != 4) return -1;
  if (addr < low || addr + sizeof(uint64_t) > high || !number) return -1;
  *inode = number;
  return (int64_t)(addr - low + offset);
}

/* The word through shared memory that the process has mapped: works where tracing is forbidden. */
static bool word_of_file(pid_t pid, uint64_t addr, uint64_t *word) {
  char path[64], line[512];
  uint64_t inode = 0;
  int64_t at = -1;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *maps = fopen(path, "re");
  if (!maps) return false;
  while (at < 0 && fgets(line, sizeof line, maps)) at = mapped_at(line, addr, &inode);
  fclose(maps);
  const int fd = at < 0 ? -1 : tmb_os_process_file(pid, inode);
  if (fd < 0) return false;
  const bool good = pread(fd, word, sizeof *word, (off_t)at) == (ssize_t)sizeof *word;
  close(fd);
  return good;
}

/* The 64-bit word at an address of a process. Returns whether it could be read. */
static bool read_word(pid_t pid, uint64_t addr, uint64_t *word) {
  const struct iovec here = {word, sizeof *word};
  const struct iovec there = {(void *)(uintptr_t)addr, sizeof *word};
  if (pid <= 0 || !addr) return false;
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof *word) return true;
  return word_of_file(pid, addr, word);
}

/* The file that has the code at an address, and where in it. */
static void read_source(struct tmb_seen *seen) {
  char path[64], line[512];
  uint64_t inode = 0;
  const struct tmb_status_wait *w = NULL;
  for (uint32_t i = 0; i < TMB_STATUS_WAITS && !w; i++) {
    const struct tmb_status_wait *v = &seen->status.wait[i];
    if (!v->thread || v->state == TMB_WAIT_NONE || !v->layer.begun || !v->layer.caller) continue;
    w = v;
    seen->source_wait = i;
  }
  if (!w) return;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)seen->pid);
  FILE *maps = fopen(path, "re");
  if (!maps) return;
  while (!seen->source_at && fgets(line, sizeof line, maps)) {
    const int64_t at = mapped_at(line, w->layer.caller, &inode);
    const char *file = strchr(line, '/');
    if (at < 0 || !file) continue;
    line[strcspn(line, "\n")] = '\0';
    seen->source_at = (uint64_t)at;
    snprintf(seen->source, sizeof seen->source, "%s", file);
  }
  fclose(maps);
}

static bool compares(uint64_t found, int cmp, uint64_t value) {
  switch (cmp) {
  case 0: return found == value;
  case 1: return found != value;
  case 2: return found > value;
  case 3: return found >= value;
  case 4: return found < value;
  default: return found <= value;
  }
}

/* Values of the words that are waited for. */
static void read_words(struct tmb_seen *seen) {
  for (int i = 0; i < TMB_STATUS_WAITS; i++) {
    struct tmb_status_wait *w = &seen->status.wait[i];
    if (!w->thread || w->state == TMB_WAIT_NONE) continue;
    if (w->kind != TMB_WAIT_SIGNAL && w->kind != TMB_WAIT_SEMAPHORE) continue;
    if (!read_word(seen->pid, w->addr, &w->found)) continue;
    const int cmp = w->kind == TMB_WAIT_SEMAPHORE ? 3 : w->cmp;
    if (w->kind == TMB_WAIT_SEMAPHORE) w->found -= w->number;
    if (compares(w->found, cmp, w->value)) seen->held |= 1u << i;
  }
}

/* ---- the whole */

int tmb_snapshot_open(struct tmb_snapshot *s, const struct tmb_ctl *ctl) {
  *s = (struct tmb_snapshot){.size = ctl->size,
                             .hosts = ctl->hosts,
                             .job_id = ctl->job_id,
                             .start_ns = ctl->start_ns,
                             .launcher = ctl->supervisor_pid};
  s->rank = calloc(s->size, sizeof *s->rank);
  s->host_of = calloc(s->size, sizeof *s->host_of);
  s->host_name = calloc(s->hosts, sizeof *s->host_name);
  if (!s->rank || !s->host_of || !s->host_name) {
    tmb_snapshot_free(s);
    return TMB_E_NOMEM;
  }
  for (uint32_t r = 0; r < s->size; r++) {
    s->rank[r].fate = tmb_load_acq(&tmb_ctl_fate(ctl)[r]);
    s->host_of[r] = TMB_MIN(tmb_ctl_host_of(ctl)[r], s->hosts - 1);
  }
  for (uint32_t h = 0; h < s->hosts; h++)
    memcpy(s->host_name[h], tmb_ctl_host_name(ctl, h), TMB_CTL_HOST_BYTES - 1);
  s->at_ns = tmb_os_now_ns();
  return TMB_OK;
}

static void look_at(struct tmb_seen *seen, const struct tmb_ctl *ctl, uint32_t rank, bool memory) {
  struct tmb_os_process p;
  seen->here = true;
  seen->state = TMB_RANK_STATE(tmb_ctl_state(ctl, rank));
  seen->pid = tmb_ctl_pid(ctl, rank);
  if (seen->pid && tmb_os_process(seen->pid, memory, &p)) {
    seen->process = p.state;
    seen->cpu_ns = p.cpu_ns;
    seen->memory = p.memory;
  }
  read_page(seen, tmb_ctl_status(ctl, rank));
  read_rings(seen);
  read_words(seen);
  read_source(seen);
  seen->at_ns = tmb_os_now_ns();
}

int tmb_snapshot_take(struct tmb_snapshot *s, const struct tmb_ctl *ctl, bool memory) {
  const int rc = tmb_snapshot_open(s, ctl);
  if (rc) return rc;
  for (uint32_t r = 0; r < s->size; r++)
    if (tmb_ctl_record_of(ctl)[r] < ctl->here) look_at(&s->rank[r], ctl, r, memory);
  s->at_ns = tmb_os_now_ns();
  return TMB_OK;
}

void tmb_snapshot_free(struct tmb_snapshot *s) {
  free(s->rank);
  free(s->host_of);
  free(s->host_name);
  *s = (struct tmb_snapshot){0};
}
