/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMI-1 and PMI-2: text on the descriptor that PMI_FD names.
 *
 * Owns: struct wire, one for the process. Called through its two tables. Calls: base, libc. PMI-1:
 * a line of NAME=VALUE words in each direction; PMI-2: six digits of length, then NAME=VALUE;
 * pairs. One answer follows each request, so that MPI, which takes the descriptor later in this
 * process, finds it as new. Source: the description of the simple PMI wire protocol in the MPICH
 * developers' papers (Balaji et al., "PMI: A Scalable Parallel Process-Management Interface",
 * EuroMPI 2010). Invariants: an answer that is cut or too long ends the start.
 */
#define _GNU_SOURCE
#include "boot/pm/pm.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  ANSWER_BYTES = 8192,
  REQUEST_BYTES = 2048,
  NAME_BYTES = 256,
  LAST_ANSWER_MS = 2000,
  NS_PER_MS = 1000000
};

struct wire {
  int fd;
  bool slurm;           /* the manager is srun */
  bool two;             /* speaks PMI-2 */
  ino_t inode;          /* of the descriptor */
  char kvs[NAME_BYTES]; /* name of the job's store */
  char answer[ANSWER_BYTES];
};

/* ---- octets */

static bool send_all(int fd, const char *text, size_t bytes) {
  while (bytes) {
    const ssize_t n = write(fd, text, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text += n;
    bytes -= (size_t)n;
  }
  return true;
}

static void wait_readable(const struct tmb_pm *pm, int fd) {
  struct pollfd in = {.fd = fd, .events = POLLIN};
  for (uint64_t since_ns = 0; !in.revents;)
    (void)poll(&in, 1, (int)(tmb_pm_wait_ns(pm, &since_ns) / NS_PER_MS));
}

/* Reads `bytes`, or up to a line end if 0. */
static bool read_text(const struct tmb_pm *pm, struct wire *w, size_t bytes) {
  size_t at = 0;
  wait_readable(pm, w->fd);
  while (at + 1 < sizeof w->answer && (!bytes || at < bytes)) {
    const ssize_t n = read(w->fd, w->answer + at, bytes ? bytes - at : 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += (size_t)n;
    if (!bytes && w->answer[at - 1] == '\n') break;
  }
  w->answer[at] = '\0';
  return bytes ? at == bytes : w->answer[at - 1] == '\n';
}

static bool read_answer(const struct tmb_pm *pm, struct wire *w, bool framed) {
  if (!framed) return read_text(pm, w, 0);
  if (!read_text(pm, w, 6)) return false;
  const long bytes = strtol(w->answer, NULL, 10);
  return bytes > 0 && bytes + 1 < (long)sizeof w->answer && read_text(pm, w, (size_t)bytes);
}

/* ---- requests */

/* The value of a word of the answer. out value: [bytes]. Returns whether it is there. */
static bool word(const struct wire *w, const char *name, char *value, size_t bytes) {
  const size_t length = strlen(name);
  const char *const ends = w->two ? ";\n" : " \n";
  for (const char *at = w->answer; *at; at += strcspn(at, ends), at += *at != '\0') {
    if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
    const char *from = at + length + 1;
    snprintf(value, bytes, "%.*s", (int)strcspn(from, ends), from);
    return true;
  }
  return false;
}

static int fail(const struct tmb_pm *pm, const struct wire *w, const char *request) {
  w->answer[0]
      ? tmb_print("rank %u: %s answered '%.200s' to '%.60s'", pm->rank, pm->who, w->answer, request)
      : tmb_print("rank %u: %s does not answer '%.60s' on descriptor %d: %s", pm->rank, pm->who,
                  request, w->fd, errno ? strerror(errno) : "it is closed");
  return TMB_E_PROTOCOL;
}

/* Sends a request and reads the answer, which must be `expected`. */
static int ask(struct tmb_pm *pm, bool framed, const char *expected, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int ask(struct tmb_pm *pm, bool framed, const char *expected, const char *format, ...) {
  struct wire *w = pm->state;
  char text[REQUEST_BYTES], got[64];
  va_list args;
  va_start(args, format);
  const int head = framed ? 6 : 0;
  const int n = vsnprintf(text + head, sizeof text - 8, format, args);
  va_end(args);
  w->answer[0] = '\0';
  errno = 0;
  if (n < 0 || n >= (int)sizeof text - 8) return fail(pm, w, "a text that is too long");
  if (framed) {
    char digits[16];
    snprintf(digits, sizeof digits, "%6d", n);
    memcpy(text, digits, 6);
  }
  if (!send_all(w->fd, text, (size_t)(head + n)) || !read_answer(pm, w, framed))
    return fail(pm, w, text + head);
  if (!word(w, "cmd", got, sizeof got) || strcmp(got, expected) != 0)
    return fail(pm, w, text + head);
  return TMB_OK;
}

static bool succeeded(const struct wire *w) {
  char rc[16] = "0";
  (void)word(w, "rc", rc, sizeof rc);
  return strcmp(rc, "0") == 0;
}

/* ---- opening */

static uint32_t number(const char *name) {
  const char *text = tmb_env_get(name);
  return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static int greet(struct tmb_pm *pm, int version) {
  struct wire *w = pm->state;
  char said[16] = "";
  w->two = false; /* the greeting is that of PMI-1 in both */
  int rc = ask(pm, false, "response_to_init", "cmd=init pmi_version=%d pmi_subversion=%d\n",
               version, version == 1);
  if (rc) return rc;
  if (succeeded(w) && word(w, "pmi_version", said, sizeof said) && atoi(said) == version) {
    w->two = version == 2;
    return TMB_OK;
  }
  tmb_print(
      "rank %u speaks PMI-%d with %s, which speaks PMI-%s; set TOMBOLO_LAUNCHER=pmi%s, or use "
      "another --mpi= of srun",
      pm->rank, version, pm->who, said, said);
  return TMB_E_UNSUPPORTED;
}

/* Slurm serves one greeting of a process; an MPI that comes second waits for ever. */
static void note_mpi_to_come(const struct tmb_pm *pm, const struct wire *w) {
  void *library = w->slurm ? tmb_pm_mpi_library() : NULL;
  if (!library) return;
  dlclose(library);
  if (pm->rank == 0)
    tmb_print(
        "this program is linked with an MPI that has not been initialised, and srun --mpi=pmi2 "
        "speaks with one library of a process only: if it uses MPI, call MPI_Init before this "
        "library is initialised, or start it with mpiexec or --mpi=pmix");
}

static int wire_open(struct tmb_pm *pm, int version) {
  struct wire *w = pm->state;
  tmb_pm_pmi1_find(&w->fd, &w->inode);
  pm->rank = number("PMI_RANK");
  pm->size = number("PMI_SIZE");
  w->slurm = tmb_env_get("SLURM_STEP_ID") != NULL;
  snprintf(pm->who, sizeof pm->who, "%s (PMI-%d)", w->slurm ? "srun" : "mpiexec", version);
  note_mpi_to_come(pm, w);
  return greet(pm, version);
}

static int one_open(struct tmb_pm *pm) {
  int rc = wire_open(pm, 1);
  if (!rc) rc = ask(pm, false, "my_kvsname", "cmd=get_my_kvsname\n");
  struct wire *w = pm->state;
  if (!rc && !word(w, "kvsname", w->kvs, sizeof w->kvs)) rc = fail(pm, w, "get_my_kvsname");
  return rc;
}

static int two_open(struct tmb_pm *pm) {
  const char *job = tmb_env_get("PMI_JOBID");
  int rc = wire_open(pm, 2);
  struct wire *w = pm->state;
  snprintf(w->kvs, sizeof w->kvs, "%s", job ? job : "");
  if (!rc)
    rc = ask(pm, true, "fullinit-response", "cmd=fullinit;pmijobid=%s;pmirank=%u;threaded=FALSE;",
             w->kvs, pm->rank);
  if (!rc && !succeeded(w)) rc = fail(pm, w, "fullinit");
  return rc;
}

/* ---- the store */

static int one_put(struct tmb_pm *pm, const char *key, const char *value) {
  struct wire *w = pm->state;
  const int rc =
      ask(pm, false, "put_result", "cmd=put kvsname=%s key=%s value=%s\n", w->kvs, key, value);
  return rc || succeeded(w) ? rc : fail(pm, w, key);
}

static int two_put(struct tmb_pm *pm, const char *key, const char *value) {
  const int rc = ask(pm, true, "kvs-put-response", "cmd=kvs-put;key=%s;value=%s;", key, value);
  return rc || succeeded(pm->state) ? rc : fail(pm, pm->state, key);
}

static int one_fence(struct tmb_pm *pm) {
  return ask(pm, false, "barrier_out", "cmd=barrier_in\n");
}

static int two_fence(struct tmb_pm *pm) {
  const int rc = ask(pm, true, "kvs-fence-response", "cmd=kvs-fence;");
  return rc || succeeded(pm->state) ? rc : fail(pm, pm->state, "kvs-fence");
}

static int take_value(const struct wire *w, char *value) {
  char flag[16] = "TRUE";
  (void)word(w, "flag", flag, sizeof flag);
  (void)word(w, "found", flag, sizeof flag);
  return succeeded(w) && strcmp(flag, "TRUE") == 0 && word(w, "value", value, TMB_PM_VALUE_BYTES)
             ? TMB_OK
             : TMB_E_NOT_FOUND;
}

static int one_get(struct tmb_pm *pm, uint32_t owner, const char *key, char *value) {
  (void)owner;
  struct wire *w = pm->state;
  const int rc = ask(pm, false, "get_result", "cmd=get kvsname=%s key=%s\n", w->kvs, key);
  return rc ? rc : take_value(w, value);
}

static int two_get(struct tmb_pm *pm, uint32_t owner, const char *key, char *value) {
  (void)owner;
  struct wire *w = pm->state;
  const int rc =
      ask(pm, true, "kvs-get-response", "cmd=kvs-get;jobid=%s;srcid=-1;key=%s;", w->kvs, key);
  return rc ? rc : take_value(w, value);
}

/* The value may be longer than others: parsed where it is. */
static int parse_map(const struct tmb_pm *pm, uint32_t *host_of) {
  const struct wire *w = pm->state;
  char map[ANSWER_BYTES];
  return word(w, "value", map, sizeof map) ? tmb_pm_parse_mapping(map, pm->size, host_of)
                                           : TMB_E_NOT_FOUND;
}

static int one_hosts(struct tmb_pm *pm, uint32_t *host_of) {
  const struct wire *w = pm->state;
  const int rc =
      ask(pm, false, "get_result", "cmd=get kvsname=%s key=PMI_process_mapping\n", w->kvs);
  return rc ? rc : parse_map(pm, host_of);
}

static int two_hosts(struct tmb_pm *pm, uint32_t *host_of) {
  const int rc =
      ask(pm, true, "info-getjobattr-response", "cmd=info-getjobattr;key=PMI_process_mapping;");
  return rc ? rc : parse_map(pm, host_of);
}

/* ---- the end */

/* MPI may close the descriptor in MPI_Finalize, and its number may mean another file then. */
static bool is_inode(int fd, ino_t inode) {
  struct stat now;
  return fstat(fd, &now) == 0 && now.st_ino == inode;
}

/* An MPI in this process reports its end itself: MPICH until version 4.1 in MPI_Finalize, which
 * closes the descriptor, later versions in an exit handler. That does not run after _exit, and has
 * run before where MPI is finalised in one. No end is reported twice: MPICH would write to a closed
 * line. The answer is waited for: the manager takes a process that ends before it has read this for
 * a crashed one. */
static void say_end(const struct tmb_pm *pm, int fd, ino_t inode, const char *text) {
  char unused[256];
  struct pollfd in = {.fd = fd, .events = POLLIN};
  bool finalized;
  if (pm->mpi_reports || (tmb_pm_mpi_begun(&finalized) && !finalized)) return;
  if (!is_inode(fd, inode)) return;
  if (!send_all(fd, text, strlen(text))) return;
  if (poll(&in, 1, LAST_ANSWER_MS) > 0 && read(fd, unused, sizeof unused) < 0) return;
}

void tmb_pm_pmi1_find(int *fd, ino_t *inode) {
  struct stat now;
  *fd = tmb_env_get("PMI_FD") ? (int)number("PMI_FD") : -1;
  *inode = fstat(*fd, &now) == 0 ? now.st_ino : 0;
}

void tmb_pm_pmi1_end(const struct tmb_pm *pm, int fd, ino_t inode) {
  say_end(pm, fd, inode, "cmd=finalize\n");
}

static void one_leave(struct tmb_pm *pm) {
  const struct wire *w = pm->state;
  tmb_pm_pmi1_end(pm, w->fd, w->inode);
}

static void two_leave(struct tmb_pm *pm) {
  const struct wire *w = pm->state;
  say_end(pm, w->fd, w->inode, "    13cmd=finalize;");
}

/* In a signal handler: no formatting, no search for MPI. Slurm takes the code of the process, and
 * would make it that of its own signal if ordered to end the others. */
static void one_fail(struct tmb_pm *pm, int code) {
  const struct wire *w = pm->state;
  if (w->slurm) return;
  char text[] = "cmd=abort exitcode=000\n";
  char *digit = text + sizeof text - 3;
  for (int rest = code & 0xff; rest; rest /= 10) *digit-- = (char)('0' + rest % 10);
  if (is_inode(w->fd, w->inode)) (void)send_all(w->fd, text, sizeof text - 1);
}

const struct tmb_pm_ops tmb_pm_pmi1 = {TMB_PM_MANDATORY("pmi1", struct wire, one),
                                       .fail = one_fail};

const struct tmb_pm_ops tmb_pm_pmi2 = {TMB_PM_MANDATORY("pmi2", struct wire, two)};
