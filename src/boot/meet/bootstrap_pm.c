/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap of ranks that a foreign process manager has started (mpirun, mpiexec, srun).
 *
 * Owns: struct tmb_pm, one for the process. Called by boot, and through its table. Calls: pm, meet,
 * ctl, adopt. Of each host the lowest rank is the leader: it makes the control block and the host's
 * memory, and hands them to the others. Within a host everything then is as under a supervisor
 * (bootstrap_agent), and a watcher follows the ranks; between hosts a round is completed through
 * the manager: leaders put the contributions of their hosts, all fence, leaders fetch. Invariants:
 * all ranks make equal calls in equal order; the control block of a host knows only its own ranks
 * as here.
 */
#define _GNU_SOURCE
#include "boot/meet/bootstrap.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/meet/meet.h"
#include "boot/page/ctl.h"
#include "boot/pm/pm.h"
#include "boot/supervise/adopt.h"
#include "boot/trace.h"
#include "os/memory/memfd.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Message of rank 0 to all. */
struct job_card {
  uint64_t layout, job_id; /* TMB_CTL_MAGIC */
  uint8_t secret[TMB_CTL_SECRET_BYTES];
};

/* Message of the leader of a host to all. */
struct host_card {
  char socket[TMB_MEET_NAME_BYTES], name[TMB_CTL_HOST_BYTES];
  uint64_t pid_space;
};

enum { FD_CTL, FD_ARENA, FD_SEGMENT, FDS }; /* and then one bell for each rank of the host */

struct managed {
  struct tmb_pm pm;
  uint32_t rounds;                /* through the manager */
  uint32_t left;                  /* 1: this rank has reported its end to the manager */
  uint32_t *host_of, *machine_of; /* [size] while it starts; host: as pretended */
  uint32_t hosts;
  int fds[TMB_MEET_FDS_MAX];
};

static struct managed managed; /* of this process; the manager has one connection for it */

/* ---- rounds */

static bool is_leader(const struct tmb_boot *b) {
  return b->places.near_index == 0;
}

static bool local_barrier(struct tmb_boot *b) {
  return tmb_ctl_barrier(b->ctl, &(struct tmb_ctl_round){.agent_fd = -1, .idle = b->idle});
}

static void key_of(char *key, uint32_t round, uint32_t host) {
  snprintf(key, TMB_PM_KEY_BYTES, "tmb-r%u-h%u", round, host);
}

/* The lowest rank of a host. */
static uint32_t leader_of(const struct tmb_boot *b, uint32_t host) {
  uint32_t r = 0;
  while (b->places.host_of[r] != host) r++;
  return r;
}

/* Contributions of a host one behind the other, to or from their places. Returns how many bytes. */
static size_t pack(const struct tmb_boot *b, uint32_t host, char *parts, size_t bytes, char *text,
                   bool out) {
  size_t at = 0;
  for (uint32_t r = 0; r < b->size; r++) {
    if (b->places.host_of[r] != host) continue;
    memcpy(out ? text + at : parts + r * bytes, out ? parts + r * bytes : text + at, bytes);
    at += bytes;
  }
  return at;
}

static bool fetch(struct tmb_boot *b, uint32_t host, char *parts, size_t bytes, char *text) {
  char key[TMB_PM_KEY_BYTES];
  uint32_t count = 0;
  for (uint32_t r = 0; r < b->size; r++) count += b->places.host_of[r] == host;
  key_of(key, managed.rounds, host);
  if (tmb_pm_get_data(&managed.pm, leader_of(b, host), key, text, count * bytes)) {
    tmb_print("host %s has sent nothing through %s; do all ranks run the same program?",
              tmb_boot_host_name(b, leader_of(b, host)), managed.pm.who);
    return false;
  }
  (void)pack(b, host, parts, bytes, text, false);
  return true;
}

/* The leader's part of a round between hosts: before the fence, and after it. */
static bool publish(struct tmb_boot *b, char *parts, size_t bytes, char *text) {
  char key[TMB_PM_KEY_BYTES];
  key_of(key, managed.rounds, b->places.host);
  const size_t n = pack(b, b->places.host, parts, bytes, text, true);
  return tmb_pm_put_data(&managed.pm, key, text, n) == 0;
}

static bool collect(struct tmb_boot *b, char *parts, size_t bytes, char *text) {
  bool good = true;
  for (uint32_t h = 0; h < b->places.hosts && good; h++)
    if (h != b->places.host) good = fetch(b, h, parts, bytes, text);
  return good;
}

/* Between hosts. in bytes: 0 for a barrier. */
static bool far_round(struct tmb_boot *b, char *parts, size_t bytes) {
  bool finalized;
  if (tmb_pm_mpi_begun(&finalized) && finalized && managed.pm.ops != &tmb_pm_pmix) {
    tmb_print("MPI_Finalize has closed the connection with %s, which ranks of several hosts need "
              "until the program has attached its segments; call it later",
              managed.pm.who);
    return false;
  }
  const bool carries = bytes && is_leader(b);
  char *text = carries ? malloc((size_t)b->size * bytes) : NULL;
  if (carries && !text) tmb_fatal("out of memory for the data of %u ranks", b->size);
  managed.rounds++;
  managed.pm.idle = b->idle;
  bool good = !carries || publish(b, parts, bytes, text);
  good = managed.pm.ops->fence(&managed.pm) == 0 && good;
  if (carries && good) good = collect(b, parts, bytes, text);
  free(text);
  return good;
}

static bool pm_barrier(struct tmb_boot *b) {
  if (!local_barrier(b)) return false;
  return b->places.hosts == 1 || far_round(b, NULL, 0);
}

static bool pm_gather(struct tmb_boot *b, const void *mine, size_t bytes, void *all) {
  char *parts = tmb_ctl_parts(b->ctl, b->gathers++ & 1);
  memcpy(parts + b->rank * bytes, mine, bytes);
  if (!local_barrier(b)) return false;
  if (b->places.hosts > 1 && (!far_round(b, parts, bytes) || !local_barrier(b))) return false;
  memcpy(all, parts, b->size * bytes);
  return true;
}

/* ---- the end */

/* A rank that was ordered to end takes the code of the job, so that the manager does not see a
 * failure where there was none. */
static int pm_record_exit(struct tmb_boot *b, int code) {
  if (!tmb_ctl_record_exit(b->ctl, b->rank, code) &&
      TMB_RANK_STATE(tmb_ctl_state(b->ctl, b->rank)) == TMB_RANK_ORDERED)
    code = (int)tmb_load_acq(&b->ctl->ordered_code);
  if (tmb_xchg_acq_rel(&managed.left, 1u)) return code;
  if (code == 0)
    managed.pm.ops->leave(&managed.pm);
  else if (managed.pm.ops->fail)
    managed.pm.ops->fail(&managed.pm, code);
  return code;
}

static void pm_note_handlers(struct tmb_boot *b) {
  bool finalized;
  (void)b;
  managed.pm.mpi_reports = tmb_pm_mpi_begun(&finalized) && finalized;
}

static void pm_stop(struct tmb_boot *b) {
  (void)b;
  if (!tmb_xchg_acq_rel(&managed.left, 1u)) managed.pm.ops->leave(&managed.pm);
  tmb_pm_close(&managed.pm);
}

/* ---- starting */

static int out_of_memory(uint32_t size) {
  tmb_print("out of memory for the places of %u ranks", size);
  return TMB_E_NOMEM;
}

/* Hosts are numbered anew in the order of their lowest rank. Returns how many there are. */
static uint32_t renumber(uint32_t *host_of, uint32_t size) {
  uint32_t hosts = 0;
  uint32_t *seen = malloc(size * sizeof *seen);
  if (!seen) tmb_fatal("out of memory for the places of %u ranks", size);
  for (uint32_t r = 0; r < size; r++) {
    uint32_t h = 0;
    while (h < hosts && seen[h] != host_of[r]) h++;
    if (h == hosts) seen[hosts++] = host_of[r];
    host_of[r] = h;
  }
  free(seen);
  return hosts;
}

/* Places as the manager knows them, or, where all ranks are on one machine, as TOMBOLO_PLACES
 * pretends. */
static int find_places(struct tmb_boot *b) {
  char why[160];
  const char *text = tmb_cfg_str(TMB_CFG_PLACES);
  managed.machine_of = calloc(b->size, sizeof *managed.machine_of);
  managed.host_of = calloc(b->size, sizeof *managed.host_of);
  if (!managed.machine_of || !managed.host_of) return out_of_memory(b->size);
  if (managed.pm.ops->hosts(&managed.pm, managed.machine_of)) {
    tmb_print("%s does not say which of its %u ranks share a host; use 'tombolo run'",
              managed.pm.who, b->size);
    return TMB_E_UNSUPPORTED;
  }
  const uint32_t machines = renumber(managed.machine_of, b->size);
  memcpy(managed.host_of, managed.machine_of, b->size * sizeof *managed.host_of);
  managed.hosts = machines;
  if (!text || !*text) return TMB_OK;
  if (machines > 1) {
    tmb_print(
        "TOMBOLO_PLACES=%s pretends hosts on one machine, but these ranks are on %u; unset it",
        text, machines);
    return TMB_E_ARG;
  }
  if (!tmb_places_parse(text, b->size, managed.host_of, &managed.hosts, why, sizeof why))
    return TMB_OK;
  tmb_print("TOMBOLO_PLACES=%s: %s", text, why);
  return TMB_E_ARG;
}

static int take_places(struct tmb_boot *b) {
  const uint32_t *machine_of = managed.machine_of;
  if (tmb_places_open(&b->places, b->rank, b->size, managed.host_of)) return out_of_memory(b->size);
  b->here = b->here_index = 0;
  for (uint32_t r = 0; r < b->size; r++) {
    b->here += machine_of[r] == machine_of[b->rank];
    b->here_index += r < b->rank && machine_of[r] == machine_of[b->rank];
  }
  const uint32_t most = (uint32_t)TMB_MEET_FDS_MAX - FDS;
  if (b->places.hosts == 1 || b->places.near_count <= most) return TMB_OK;
  tmb_print("more than %u ranks on one of several hosts", most);
  return TMB_E_LIMIT;
}

/* Report to the others, and receive from rank 0. out listener: of a leader, else -1. */
static int exchange_cards(struct tmb_boot *b, struct job_card *job, int *listener) {
  struct host_card mine = {.pid_space = tmb_os_pid_space()};
  char key[TMB_PM_KEY_BYTES];
  int rc = TMB_OK;
  if (b->rank == 0) {
    *job = (struct job_card){.layout = TMB_CTL_MAGIC};
    tmb_ctl_new_identity(&job->job_id, job->secret);
    rc = tmb_pm_put_data(&managed.pm, "tmb-job", job, sizeof *job);
  }
  if (!rc && is_leader(b)) {
    if ((*listener = tmb_meet_open(mine.socket)) < 0) return *listener;
    snprintf(mine.name, sizeof mine.name, "%s", tmb_os_hostname());
    if (b->places.hosts > 1 && managed.machine_of[b->size - 1] == 0)
      snprintf(mine.name, sizeof mine.name, "%.50s/%u", tmb_os_hostname(), b->places.host);
    snprintf(key, sizeof key, "tmb-h%u", b->places.host);
    rc = tmb_pm_put_data(&managed.pm, key, &mine, sizeof mine);
  }
  if (!rc) rc = managed.pm.ops->fence(&managed.pm);
  if (rc || b->rank == 0) return rc;
  if (!tmb_pm_get_data(&managed.pm, 0, "tmb-job", job, sizeof *job) && job->layout == TMB_CTL_MAGIC)
    return TMB_OK;
  tmb_print(
      "rank %u of %u, started by %s: rank 0 has sent nothing that this version of the library "
      "understands; all programs of the job must be linked with one version of it",
      b->rank, b->size, managed.pm.who);
  return TMB_E_PROTOCOL;
}

static int get_host(struct tmb_boot *b, uint32_t host, struct host_card *card) {
  char key[TMB_PM_KEY_BYTES];
  snprintf(key, sizeof key, "tmb-h%u", host);
  if (!tmb_pm_get_data(&managed.pm, leader_of(b, host), key, card, sizeof *card)) return TMB_OK;
  tmb_print("rank %u of %u, started by %s: rank %u has not sent its address; all programs of the "
            "job must use this library, and their ranks see the same hosts",
            b->rank, b->size, managed.pm.who, leader_of(b, host));
  return TMB_E_PROTOCOL;
}

/* ---- the memory of a host */

static int open_bells(const struct tmb_boot *b) {
  if (b->places.hosts == 1) return TMB_OK;
  for (uint32_t i = 0; i < b->places.near_count; i++) {
    managed.fds[FDS + i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (managed.fds[FDS + i] >= 0) continue;
    tmb_print("cannot make a doorbell (an eventfd): %s; %s", strerror(errno),
              tmb_error_fd_remedy(errno));
    return TMB_E_LIMIT;
  }
  return TMB_OK;
}

static int make_control(struct tmb_boot *b, const struct job_card *job) {
  const bool avoid = tmb_env_get("TOMBOLO_BOOT_NO_MEMFD") != NULL;
  const uint32_t hosts = b->places.hosts;
  struct host_card card;
  char **names = calloc(hosts, sizeof *names);
  int rc = names ? TMB_OK : TMB_E_NOMEM;
  for (uint32_t h = 0; h < hosts && !rc; h++) {
    rc = get_host(b, h, &card);
    if (!rc && !(names[h] = strndup(card.name, sizeof card.name))) rc = TMB_E_NOMEM;
  }
  const struct tmb_ctl_job shape = {.size = b->size,
                                    .hosts = hosts,
                                    .host_of = managed.host_of,
                                    .host_name = names,
                                    .only_host = b->places.host,
                                    .trace_bytes = tmb_trace_wanted()};
  if (!rc) rc = tmb_ctl_create(&shape, avoid, &managed.fds[FD_CTL], &b->ctl);
  for (uint32_t h = 0; names && h < hosts; h++) free(names[h]);
  free(names);
  if (rc) return rc;
  b->ctl->job_id = job->job_id;
  memcpy(b->ctl->secret, job->secret, sizeof b->ctl->secret);
  return TMB_OK;
}

static int lead(struct tmb_boot *b, const struct job_card *job, int listener, uint32_t count) {
  const bool avoid = tmb_env_get("TOMBOLO_BOOT_NO_MEMFD") != NULL;
  int rc = make_control(b, job);
  if (!rc) rc = open_bells(b);
  if (rc) return rc;
  managed.fds[FD_ARENA] = tmb_memfd_create("tombolo-arena", avoid);
  managed.fds[FD_SEGMENT] = tmb_memfd_create("tombolo-segment", avoid);
  if (managed.fds[FD_ARENA] < 0 || managed.fds[FD_SEGMENT] < 0) return TMB_E_SYS;
  return tmb_meet_serve(listener, b->places.near_count - 1, managed.fds, count);
}

static int follow(struct tmb_boot *b, const struct job_card *job, uint32_t count) {
  struct host_card card;
  int rc = get_host(b, b->places.host, &card);
  if (rc) return rc;
  card.socket[sizeof card.socket - 1] = '\0';
  if (card.pid_space != tmb_os_pid_space()) {
    tmb_print(
        "rank %u runs in a process number space (container) of its own, where it cannot share "
        "memory with rank %u of the same host; start %s inside of the container",
        b->rank, leader_of(b, b->places.host), managed.pm.who);
    return TMB_E_STATE;
  }
  rc = tmb_meet_take(card.socket, managed.fds, count);
  if (rc) return rc;
  b->ctl = tmb_ctl_map(managed.fds[FD_CTL], b->size, job->job_id);
  if (b->ctl) return TMB_OK;
  tmb_print("rank %u cannot map the control block of its host: %s", b->rank, strerror(errno));
  return TMB_E_SYS;
}

static int take_memory(struct tmb_boot *b) {
  const bool bells = b->places.hosts > 1;
  b->arena_fd = managed.fds[FD_ARENA];
  b->segment_fd = managed.fds[FD_SEGMENT];
  b->secret = b->ctl->secret;
  b->job_id = b->ctl->job_id;
  b->supervised = true;
  b->ops = &tmb_bootstrap_pm;
  if (!bells) return TMB_OK;
  b->bell_fd = calloc(b->places.near_count, sizeof *b->bell_fd);
  if (!b->bell_fd) return out_of_memory(b->size);
  memcpy(b->bell_fd, managed.fds + FDS, b->places.near_count * sizeof *b->bell_fd);
  return TMB_OK;
}

static int share_memory(struct tmb_boot *b) {
  const uint32_t count = FDS + (b->places.hosts > 1 ? b->places.near_count : 0);
  struct job_card job;
  int listener = -1;
  int rc = exchange_cards(b, &job, &listener);
  if (!rc) rc = is_leader(b) ? lead(b, &job, listener, count) : follow(b, &job, count);
  if (listener >= 0) close(listener);
  if (!rc) rc = take_memory(b);
  if (!rc) rc = tmb_ctl_join(b->ctl, b->rank, getpid());
  return rc;
}

/* Ranks of one host need the manager no more. A barrier must follow: all have let go before any
 * may begin an MPI. */
static void let_go(const struct tmb_boot *b) {
  if (b->places.hosts == 1 && managed.pm.ops->rest) managed.pm.ops->rest(&managed.pm);
}

/* Slurm's PMI-2 has one greeting for a process, and this library has used it. */
bool tmb_boot_launched(void) {
  return managed.pm.ops && managed.pm.ops != &tmb_pm_pmi2;
}

int tmb_boot_manage(struct tmb_boot *b) {
  int rc = tmb_pm_find(&managed.pm);
  if (rc) return rc;
  b->rank = managed.pm.rank;
  b->size = managed.pm.size;
  if (b->size > TMB_BOOT_RANKS_MAX) {
    tmb_print("%s has started %u ranks; a job has at most %d", managed.pm.who, b->size,
              TMB_BOOT_RANKS_MAX);
    return TMB_E_LIMIT;
  }
  rc = find_places(b);
  if (!rc) rc = take_places(b);
  if (!rc) rc = share_memory(b);
  if (!rc && !local_barrier(b)) rc = TMB_E_PEER;
  if (!rc && is_leader(b)) tmb_adopt_start(b, managed.fds[FD_CTL]);
  if (!rc) let_go(b);
  if (!rc && !local_barrier(b)) rc = TMB_E_PEER; /* from now on no end goes unseen */
  if (!rc) close(managed.fds[FD_CTL]);
  if (!rc) tmb_pm_mark_taken();
  free(managed.host_of);
  free(managed.machine_of);
  return rc;
}

const struct tmb_bootstrap_ops tmb_bootstrap_pm = {
    .barrier = pm_barrier,
    .gather = pm_gather,
    .record_exit = pm_record_exit,
    .note_handlers = pm_note_handlers,
    .stop = pm_stop,
};
