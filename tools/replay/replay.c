/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --record` and `--replay`, see replay.h.
 *
 * Owns nothing. Called by tools/run. Calls: tools/check, memfd_create, personality. Addresses are
 * not randomised in recorded and replayed runs, so that pointers are equal in both. There are no
 * progress threads, which nothing orders. Invariant: the number of ranks is that of the file of
 * rank 0.
 */
#define _GNU_SOURCE
#include "replay/replay.h"
#include "check/check.h"
#include "tool.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CUTS_NAMED   4       /* ranks that are named, at most */
#define ONLY_GRACE_S "86400" /* a day: the largest value of the setting */

/* The head of the file of rank 0. Returns whether the folder holds a recording; else errno is 0 if
 * the file is none. */
static bool read_head(const char *folder, struct rpl_head *head) {
  char path[PATH_MAX];
  errno = ENAMETOOLONG;
  if (snprintf(path, sizeof path, "%s/rank.0", folder) >= PATH_MAX) return false;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) errno = 0;
  const bool whole = fd >= 0 && read(fd, head, sizeof *head) == (ssize_t)sizeof *head;
  if (fd >= 0) close(fd);
  return whole && head->is.magic == RPL_MAGIC && head->is.event_bytes == sizeof(struct rpl_event);
}

/* A name for a new recording. */
static uint64_t new_name(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t words[3] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec, (uint64_t)getpid()};
  return rpl_hash(RPL_HASH_START, words, sizeof words);
}

/* Delete the files of an earlier recording: it may have had more ranks or threads. */
static void remove_files(const char *folder) {
  char path[PATH_MAX];
  static const char *const names[] = {"rank.", "sites.", "locks.", "sends.", "takes."};
  DIR *const dir = opendir(folder);
  const struct dirent *file;
  while (dir && (file = readdir(dir)))
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strncmp(file->d_name, names[i], strlen(names[i])) == 0 &&
          snprintf(path, sizeof path, "%s/%s", folder, file->d_name) < PATH_MAX)
        (void)unlink(path);
  if (dir) closedir(dir);
}

/* Whether a folder may be written; else errno says why not. */
static bool is_writable(const char *folder) {
  struct stat st;
  if (stat(folder, &st) != 0) return false;
  errno = ENOTDIR;
  return S_ISDIR(st.st_mode) && access(folder, W_OK | X_OK) == 0;
}

static int begin_record(const char *folder) {
  struct rpl_head head;
  if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || !is_writable(folder)) {
    tmb_print(
        "run: --record %s: %s; give a folder that may be written, or a new one in such a folder",
        folder, strerror(errno));
    return TOOL_EXIT_USAGE;
  }
  if (read_head(folder, &head)) remove_files(folder);
  return 0;
}

static int begin_replay(const char *folder, uint32_t *ranks, uint64_t *recording) {
  struct rpl_head head;
  if (!read_head(folder, &head)) {
    const char *const why =
        errno ? strerror(errno) : "byte 0: it is damaged, or of another version";
    tmb_print("run: --replay %s: there is no recording; give a folder that --record has written "
              "(%s/rank.0: %s)",
              folder, folder, why);
    return TOOL_EXIT_USAGE;
  }
  if (!replay_is_whole(folder, &head)) return TOOL_EXIT_USAGE;
  if (*ranks && *ranks != head.is.ranks) {
    tmb_print("run: --replay %s: %u ranks were recorded, not %u; leave out -n", folder,
              head.is.ranks, *ranks);
    return TOOL_EXIT_USAGE;
  }
  *ranks = head.is.ranks;
  *recording = head.is.recording;
  return 0;
}

static int make_area(struct replay_run *run, uint32_t ranks) {
  char path[64];
  const uint64_t bytes = rpl_area_bytes(ranks);
  run->fd = memfd_create("tombolo-replay", MFD_CLOEXEC);
  void *at = MAP_FAILED;
  if (run->fd >= 0 && ftruncate(run->fd, (off_t)bytes) == 0)
    at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, run->fd, 0);
  if (at == MAP_FAILED) {
    tmb_print("run: no memory of %llu KB for record and replay: %s",
              (unsigned long long)(bytes >> 10), strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  run->area = at;
  run->area->magic = RPL_MAGIC;
  run->area->ranks = ranks;
  run->area->bytes = bytes;
  run->area->recording = run->recording;
  run->area->only = run->only != NULL;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), run->fd);
  tmb_env_set("TOMBOLO_REPLAY_AREA", path);
  return 0;
}

int replay_only_parse(struct replay_run *run, const char *text) {
  char *end;
  const unsigned long rank = strtoul(text, &end, 10);
  if (*text >= '0' && *text <= '9' && rank < UINT32_MAX &&
      (*end == '\0' || (*end == ':' && end[1]))) {
    run->only = text;
    run->only_rank = (uint32_t)rank;
    return 0;
  }
  tmb_print("run: --only %s: give a rank, as 3, or a rank and a command, as '3:gdb --args'", text);
  return TOOL_EXIT_USAGE;
}

char **replay_only_child(const struct replay_run *run, uint32_t rank, char **argv) {
  if (!run->only) return argv;
  if (rank != run->only_rank) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0) (void)dup2(nowhere, STDERR_FILENO);
    return argv;
  }
  const char *const command = strchr(run->only, ':');
  if (!command) return argv;
  size_t count = 1;
  while (argv[count - 1]) count++;
  char *const words = strdup(command + 1), *rest = NULL;
  char **const all = words ? calloc(count + strlen(words), sizeof *all) : NULL;
  if (!all) return NULL;
  size_t at = 0;
  for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
    all[at++] = word;
  memcpy(all + at, argv, count * sizeof *argv);
  return all;
}

/* The rank of --only is there; the job waits for it, as long as it stands in a debugger. */
static int begin_only(const struct replay_run *run, uint32_t ranks) {
  if (!run->only) return 0;
  if (run->only_rank >= ranks) {
    tmb_print("run: --only %s: there is no such rank; give one below %u", run->only, ranks);
    return TOOL_EXIT_USAGE;
  }
  const char *const command = strchr(run->only, ':');
  if (command && !tool_program_exists(command + 1)) {
    tmb_print("run: --only %s: the command cannot be executed", run->only);
    return TOOL_EXIT_USAGE;
  }
  if (!tmb_env_get("TOMBOLO_EXITTIMEOUT") && !tmb_env_get("GASNET_EXITTIMEOUT"))
    tmb_env_set("GASNET_EXITTIMEOUT", ONLY_GRACE_S);
  return 0;
}

/* The folder of a recording, made or read. out whole: its path, empty: there is none. */
static int begin_folder(struct replay_run *run, uint32_t *ranks, char whole[PATH_MAX]) {
  const char *const folder = run->record ? run->record : run->replay;
  *whole = '\0';
  if (!folder) return 0;
  run->recording = new_name();
  const int rc = run->record ? begin_record(folder) : begin_replay(folder, ranks, &run->recording);
  if (rc || realpath(folder, whole)) return rc;
  tmb_print("run: %s: %s", folder, strerror(errno));
  return TOOL_EXIT_FAILED;
}

/* Pointers are equal in both runs. */
static void fix_addresses(void) {
  const int persona = personality(0xffffffff);
  if (persona >= 0) (void)personality((unsigned)persona | ADDR_NO_RANDOMIZE);
}

/* The settings of a rank that is recorded or replayed. in whole: path of the folder. */
static void name_folder(const struct replay_run *run, const char *whole) {
  const char *const hooks = tmb_env_get("TOMBOLO_TEST_NET_HOOK");
  char text[256] = "number"; /* messages of other hosts have numbers */
  if (hooks && *hooks) snprintf(text, sizeof text, "number/%s", hooks);
  tmb_env_set("TOMBOLO_TEST_NET_HOOK", text);
  tmb_env_set(run->record ? "TOMBOLO_RECORD" : "TOMBOLO_REPLAY", whole);
  tmb_env_set("TOMBOLO_PROGRESS_SHARE", "0");
}

int replay_begin(struct replay_run *run, uint32_t *ranks) {
  char whole[PATH_MAX];
  if (!run->record && !run->replay && !run->chaos) return 0;
  int rc = begin_folder(run, ranks, whole);
  if (rc == 0) rc = begin_only(run, *ranks);
  if (rc == 0) rc = make_area(run, *ranks ? *ranks : 1);
  if (rc == 0) rc = check_load("tombolo-replay.so", run->replay ? "--replay" : "--record");
  if (rc) return rc;
  if (*whole) name_folder(run, whole);
  if (run->chaos) tmb_env_set("TOMBOLO_CHAOS", run->chaos);
  if (run->chaos && !tmb_env_get("TMB_PREEMPT_SEED")) /* of a library that is built for it */
    tmb_env_set("TMB_PREEMPT_SEED", run->chaos);
  fix_addresses();
  return 0;
}

/* A place as text: the call, and its line where it is known. */
static void print_place(const char *name, const struct rpl_place *place) {
  struct check_line line = {NULL, 0};
  if (place->offset) line = check_line_of(place->module, place->offset);
  if (!*place->call)
    fprintf(stderr, "  %s: the end of the recording\n", name);
  else if (line.file)
    fprintf(stderr, "  %s: %s %s (%s:%u)\n", name, place->call, place->detail, line.file,
            line.line);
  else
    fprintf(stderr, "  %s: %s %s\n", name, place->call, place->detail);
  free(line.file);
}

/* Copy the decisions of all ranks. */
static void collect(struct replay_taken *out, const struct rpl_area *area) {
  for (uint32_t r = 0; r < area->ranks; r++)
    for (uint32_t i = 0; i < area->rank[r].taken.count && i < RPL_TAKEN; i++) {
      if (out->count == REPLAY_TAKEN_MAX) return;
      out->rank[out->count] = r;
      out->number[out->count++] = area->rank[r].taken.number[i];
    }
}

/* A run in which no rank has loaded the recorder has failed. Returns its exit code. */
static int end_unattached(const struct replay_run *run, int code) {
  if (run->area->attached || (!run->record && !run->replay)) return code;
  tmb_print("run: %s: nothing was %s: no rank has loaded the recorder before the library; link the "
            "program with libtombolo.so, not with libtombolo.a or -static",
            run->record ? "--record" : "--replay", run->record ? "recorded" : "replayed");
  return code ? code : TOOL_EXIT_FAILED;
}

/* Ranks that were killed while they were recorded, and went on behind that: where it was. */
static void print_cuts(const struct replay_run *run) {
  uint32_t more = 0;
  for (uint32_t r = 0, named = 0; r < run->area->ranks; r++) {
    const struct rpl_deviation *const d = &run->area->rank[r].cut;
    if (!tmb_load_acq(&d->set)) continue;
    if (named++ < CUTS_NAMED) {
      tmb_print(
          "run: --replay %s: the recording of rank %u breaks off behind event %llu; from there "
          "on the rank had no order",
          run->replay, r, (unsigned long long)d->event);
      print_place("last call", &d->expected);
    } else {
      more++;
    }
  }
  if (more) tmb_print("run: --replay %s: so do those of %u more ranks", run->replay, more);
}

int replay_end(struct replay_run *run, int code) {
  if (!run->area) return code;
  code = end_unattached(run, code);
  for (uint32_t r = 0; r < run->area->ranks; r++) {
    const struct rpl_deviation *const d = &run->area->rank[r].deviation;
    if (!tmb_load_acq(&d->set)) continue;
    tmb_print("run: --replay %s: rank %u has left the recorded order at event %llu", run->replay, r,
              (unsigned long long)d->event);
    print_place("recorded", &d->expected);
    print_place("found", &d->found);
    code = REPLAY_EXIT;
  }
  print_cuts(run);
  if (run->taken) collect(run->taken, run->area);
  if (code && run->chaos) tmb_print("run: --chaos %s: exit code %d", run->chaos, code);
  (void)munmap(run->area, run->area->bytes);
  close(run->fd);
  run->area = NULL;
  return code;
}
