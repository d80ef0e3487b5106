/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choice of the conduit to the other hosts, see conduit.h.
 *
 * Owns: tmb_job.net and its state. Called by client.c and at exit. Calls: dlopen, the conduit,
 * hooks (net/hook). A conduit is in the library (net/list.c) or a plug-in, tombolo-net-NAME.so:
 * the file that TOMBOLO_NET_PLUGIN names, else looked for in the folder `tombolo` beside the
 * library, beside the library, and then as the loader does. Invariants: with one host there is
 * none; the chosen conduit has its mandatory slots and fits this library; all ranks of the job find
 * one, or all fail, and on each host the first that found none reports why; plug-ins stay loaded.
 */
#define _GNU_SOURCE 1
#include "core/client/conduit.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/messages/messages.h"
#include "core/am/am.h"
#include "core/client/conduit_up.h"
#include "core/job.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "net/hook/hook.h"
#include "net/list.h"
#include "os/os.h"
#include "os/process/code.h"

#include "boot/boot.h"
#include "build_info.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };
#define DEFAULT_NAME "udp" /* conduit between hosts, unless TOMBOLO_CONDUIT names one */
/* At exit: longest wait for acknowledgements. Chosen, not measured. */
#define DRAIN_NS     UINT64_C(2000000000)

/* ---- finding. Failures are noted, and reported once for a host */

enum { REASON_BYTES = PATH_BYTES + 1024 };
struct reason {
  unsigned number; /* of the message */
  char text[REASON_BYTES];
};

__attribute__((format(printf, 2, 3))) static void note(struct reason *why, const char *format,
                                                       ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why->text, sizeof why->text, format, args);
  va_end(args);
  why->number = tmb_message_number(format);
}

/* File of the plug-in of a conduit: mpi has one for each binary interface of MPI. */
static void file_of(const char *name, char *file, size_t bytes) {
  const bool mpi = strcmp(name, "mpi") == 0;
  const char *abi = mpi ? tmb_boot_mpi_abi() : "";
  snprintf(file, bytes, "tombolo-net-%s%s%s.so", name, mpi ? "-" : "", abi);
}

/* Try to open the plug-in `file` in a folder. in length: of the folder's name; below: the rest of
 * the path; out there: there is such a file. */
static void *open_in(const char *folder, int length, const char *below, const char *file,
                     bool *there) {
  char path[PATH_BYTES];
  const int bytes = snprintf(path, sizeof path, "%.*s/%s%s", length, folder, below, file);
  *there = length && bytes < (int)sizeof path && access(path, F_OK) == 0;
  return *there ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *open_plugin(const char *name, struct reason *why) {
  char file[128];
  const char *asked = tmb_cfg_str(TMB_CFG_NET_PLUGIN);
  char own[PATH_BYTES];
  if (tmb_os_program_is_static()) {
    note(why,
         "this program is linked with -static, so it cannot load the conduit %s; link it without "
         "-static (libtombolo.a may stay), or run all ranks on one host",
         name);
    return NULL;
  }
  if (asked && asked[0]) {
    void *library = dlopen(asked, RTLD_NOW | RTLD_LOCAL);
    if (!library) note(why, "TOMBOLO_NET_PLUGIN=%s cannot be loaded: %s", asked, dlerror());
    return library;
  }
  file_of(name, file, sizeof file);
  const int length = (int)tmb_os_code_folder((const void *)&tmb_net_built_in, own, sizeof own);
  bool there = false;
  void *library = open_in(own, length, "tombolo/", file, &there);
  if (!there) library = open_in(own, length, "", file, &there);
  if (!there)
    library = open_in(TMB_LIBRARY_DIR, (int)strlen(TMB_LIBRARY_DIR), "tombolo/", file, &there);
  if (!there) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    note(why,
         "the conduit %s cannot be loaded: %s; the plug-in %s must lie in the folder 'tombolo' "
         "beside the library (%s) or where the loader looks (LD_LIBRARY_PATH), or "
         "TOMBOLO_NET_PLUGIN names its file",
         name, dlerror(), file, length ? own : "unknown");
  return library;
}

static const struct tmb_net_ops *find(const char *name, struct reason *why) {
  for (size_t i = 0; tmb_net_built_in[i]; i++)
    if (strcmp(tmb_net_built_in[i]->name, name) == 0) return tmb_net_built_in[i];
  void *library = open_plugin(name, why);
  if (!library) return NULL;
  const struct tmb_net_ops *ops = dlsym(library, TMB_NET_PLUGIN_SYMBOL);
  if (!ops) note(why, "the plug-in of conduit %s exports no %s", name, TMB_NET_PLUGIN_SYMBOL);
  return ops;
}

/* Whether a table can be used; notes why not. */
static bool fits(const struct tmb_net_ops *ops, const char *name, struct reason *why) {
  if (ops->abi != TMB_NET_ABI) {
    note(why,
         "the conduit %s was built for another version of the library (interface %u, this one "
         "has %u); install the two of one version",
         name, ops->abi, TMB_NET_ABI);
    return false;
  }
  const struct {
    const char *slot;
    bool there;
  } must[] = {{"open", ops->open},
              {"close", ops->close},
              {"am_send", ops->am_send},
              {"progress", ops->progress}};
  for (size_t i = 0; i < TMB_ARRAY_LEN(must); i++) {
    if (must[i].there) continue;
    note(why, "the conduit %s lacks the mandatory slot %s", name, must[i].slot);
    return false;
  }
  return true;
}

/* The conduit of a name, or NULL. */
static const struct tmb_net_ops *usable(const char *name, struct reason *why) {
  if (strcmp(name, "smp") == 0) {
    note(why, "TOMBOLO_CONDUIT=smp reaches the ranks of one host, but this job has %u; unset it",
         tmb_job.boot.places.hosts);
    return NULL;
  }
  const struct tmb_net_ops *ops = find(name, why);
  return ops && fits(ops, name, why) ? ops : NULL;
}

/* Whether all ranks have succeeded so far. The first rank of a host that has not prints why.
 * Collective. */
static bool agree(bool ok, const struct reason *why) {
  const uint8_t mine = ok;
  bool all_ok = true, first = true;
  uint8_t all[TMB_BOOT_RANKS_MAX];
  tmb_boot_allgather(&tmb_job.boot, &mine, sizeof mine, all);
  for (uint32_t r = 0; r < tmb_job.size; r++) {
    all_ok = all_ok && all[r];
    if (!all[r] && r < tmb_job.rank && tmb_boot_here(&tmb_job.boot, r)) first = false;
  }
  if (!ok && first) tmb_print_numbered(why->number, "%s", why->text);
  if (!all_ok) tmb_boot_barrier(&tmb_job.boot); /* the first rank to exit ends the job */
  return all_ok;
}

/* ---- opening and closing */

static void env_barrier(void *ctx) {
  tmb_boot_barrier(ctx);
}

static void env_allgather(void *ctx, const void *mine, size_t bytes, void *all) {
  tmb_boot_allgather(ctx, mine, bytes, all);
}

static int open_with(const struct tmb_net_ops *ops) {
  struct tmb_boot *boot = &tmb_job.boot;
  struct tmb_net_env env = {.abi = TMB_NET_ABI,
                            .rank = tmb_job.rank,
                            .size = tmb_job.size,
                            .host = boot->places.host,
                            .hosts = boot->places.hosts,
                            .host_of = boot->places.host_of,
                            .job_id = boot->job_id,
                            .secret = boot->secret,
                            .threads = tmb_job.threads,
                            .crowded = tmb_job.wait.crowded,
                            .launched = tmb_boot_launched(),
                            .stats = (struct tmb_net_stats *)(void *)tmb_job.status->net,
                            .up = tmb_job.trace ? &tmb_conduit_up_traced : &tmb_conduit_up,
                            .ctx = boot,
                            .barrier = env_barrier,
                            .allgather = env_allgather};
  _Static_assert(sizeof(struct tmb_net_stats) <= sizeof tmb_job.status->net, "its place suffices");
  _Static_assert(offsetof(struct tmb_net_stats, heard_ns) ==
                     TMB_STATUS_NET_HEARD_NS * sizeof(uint64_t),
                 "the numbers have the order of enum tmb_status_net");
  uint64_t if_room[2];
  tmb_am_thread_handlers(env.thread_handlers, if_room);
  tmb_later_init(env.thread_handlers, if_room);
  env.thread_now = tmb_job.later.handlers;
  const uint32_t threads = tmb_os_threads();
  if (tmb_hooks_open(tmb_cfg_str(TMB_CFG_NET_HOOK), &env, &ops, &tmb_job.net_state))
    return TMB_E_SYS; /* the reason has been printed */
  const uint32_t more = tmb_os_threads();
  if (threads && more > threads) tmb_os_threads_ours(more - threads);
  tmb_job.net = ops;
  return 0;
}

/* The conduit has no thread that sends lost packets again while this rank waits in a round of the
 * bootstrap, and its peers wait for these. */
static void go_on(void) {
  (void)tmb_peer_progress(TMB_SERVE_NOTHING);
}

int tmb_conduit_open(void) {
  const char *asked = tmb_cfg_str(TMB_CFG_CONDUIT);
  struct reason why = {0, ""};
  const struct tmb_net_ops *ops = usable(asked && asked[0] ? asked : DEFAULT_NAME, &why);
  if (!agree(ops != NULL, &why)) return TMB_E_NOT_FOUND;
  const int rc = open_with(ops);
  if (rc) return rc;
  tmb_job.special |= TMB_SPECIAL_NET;
  if (ops->drained && !tmb_cfg_int(TMB_CFG_PROGRESS_SHARE)) tmb_boot_set_idle(&tmb_job.boot, go_on);
  if (ops->joins_mpi) tmb_job.boot.mpi_is_alone = false;
  return 0;
}

static void drain(void) {
  if (!tmb_job.net || !tmb_job.net->drained) return;
  const uint64_t until = tmb_os_now_ns() + DRAIN_NS;
  while (!tmb_job.net->drained(tmb_job.net_state) && tmb_os_now_ns() < until) {
    if (!(tmb_peer_progress(TMB_SERVE_REPLIES) & TMB_FOUND_WORK)) tmb_os_yield();
  }
}

void tmb_conduit_leave(int code) {
  drain();
  if (tmb_job.net && tmb_job.net->leave) tmb_job.net->leave(tmb_job.net_state, code);
}
