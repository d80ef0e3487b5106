/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --check`: the memory of a check, and the environment of its ranks, see check.h.
 *
 * Owns nothing. Called by tools/run. Calls: memfd_create, lines.c, print.c. Invariant: the file is
 * sparse, so that what no rank touches costs nothing.
 */
#define _GNU_SOURCE
#include "check/check.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int check_parse(struct check_run *run, const char *list) {
  static const char *const words[] = {"races", "leaks", "misuse"};
  if (strcmp(list, "all") == 0) list = "races,leaks,misuse";
  const char *at = list;
  do {
    const size_t length = strcspn(at, ",");
    size_t i = 0;
    while (i < 3 && (strlen(words[i]) != length || strncmp(words[i], at, length) != 0)) i++;
    if (i == 3) {
      tmb_print(
          "run: --check %s: give all, or some of races, leaks, misuse with commas between them",
          list);
      return TOOL_EXIT_USAGE;
    }
    at += length;
  } while (*at++);
  run->list = list;
  return 0;
}

/* Where a runtime is: beside the library. Returns whether it can be read. */
static bool find_runtime(const char *file, char path[PATH_MAX]) {
  const char *const libraries = tool_libraries();
  snprintf(path, PATH_MAX, "%s/tombolo/%s", libraries ? libraries : "lib", file);
  return access(path, R_OK) == 0;
}

/* Gives a path that LD_PRELOAD would take for several, because blanks and colons separate its
 * names, another one: that of a descriptor of this process, which outlives the ranks. Returns
 * whether. */
static bool make_one_word(char path[PATH_MAX]) {
  if (!strpbrk(path, " \t\n:")) return true;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  snprintf(path, PATH_MAX, "/proc/%d/fd/%d", (int)getpid(), fd);
  return true;
}

int check_load(const char *file, const char *option) {
  char path[PATH_MAX], list[2 * PATH_MAX];
  if (!find_runtime(file, path) || !make_one_word(path)) {
    tmb_print("run: %s: %s: %s; install it beside the library", option, path, strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  const char *const others = tmb_env_get("LD_PRELOAD"); /* the user's come behind ours */
  snprintf(list, sizeof list, "%s%s%s", path, others ? ":" : "", others ? others : "");
  tmb_env_set("LD_PRELOAD", list);
  return 0;
}

static int make_area(struct check_run *run, uint32_t ranks) {
  struct chk_area head = {0};
  const uint64_t bytes = chk_area_layout(&head, ranks);
  run->fd = memfd_create("tombolo-check", MFD_CLOEXEC);
  void *at = MAP_FAILED;
  if (run->fd >= 0 && ftruncate(run->fd, (off_t)bytes) == 0)
    at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, run->fd, 0);
  if (at == MAP_FAILED) {
    tmb_print("run: --check: no memory of %llu MB for it: %s", (unsigned long long)(bytes >> 20),
              strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  run->area = at;
  *run->area = head;
  return 0;
}

static void tell_json(const char *path) {
  tmb_print("run: --check-json %s: %s; give a file in a folder that may be written", path,
            strerror(errno));
}

/* Whether the findings can be written; NULL: none are. Before the run, which may last long. */
static bool can_write(const char *json) {
  FILE *const out = json ? fopen(json, "ae") : NULL;
  if (out) fclose(out);
  if (json && !out) tell_json(json);
  return out || !json;
}

int check_begin(struct check_run *run, uint32_t ranks) {
  char path[64];
  if (!run->list) return 0;
  tmb_env_set("TOMBOLO_CHECK", run->list);
  int rc = can_write(run->json) ? check_load("tombolo-check.so", "--check") : TOOL_EXIT_USAGE;
  if (rc == 0) rc = make_area(run, ranks);
  if (rc) return rc;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), run->fd);
  tmb_env_set("TOMBOLO_CHECK_AREA", path);
  return 0;
}

/* Returns whether all is written. */
static bool write_json(const struct check_run *run, const struct check_line *lines) {
  FILE *const out = fopen(run->json, "we");
  if (out) check_print_json(run->area, lines, out);
  if (out && fclose(out) == 0) return true;
  tell_json(run->json);
  return false;
}

/* Whether the checker is needed: misuse is the library's own. */
static bool checks_calls(const char *list) {
  return strstr(list, "races") || strstr(list, "leaks");
}

/* A block that was not freed. */
static void add_block(struct chk_area *area, const struct chk_sync *s) {
  uint32_t i = 0;
  while (i < area->findings && (chk_finding_at(area, i)->kind != CHK_MEMORY ||
                                chk_finding_at(area, i)->site[0] != s->site))
    i++;
  if (i == CHK_FINDINGS) return;
  struct chk_finding *const f = chk_finding_at(area, i);
  if (i == area->findings) {
    *f = (struct chk_finding){.kind = CHK_MEMORY, .site = {s->site, s->site}};
    area->findings++;
  }
  f->count++;
}

/* Memory that was not freed. It ends with the job, so that it is named, but is no fault. */
static void add_memory(struct chk_area *area) {
  for (uint32_t i = 1; i < area->syncs; i++)
    if (chk_sync_at(area, i)->puts == CHK_BLOCK) add_block(area, chk_sync_at(area, i));
}

int check_end(struct check_run *run, int code) {
  if (!run->area) return code;
  const uint32_t found = run->area->findings;
  const bool unchecked = !run->area->attached && checks_calls(run->list);
  bool written = true;
  if (unchecked)
    tmb_print("run: --check %s: nothing was checked: no rank has loaded the checker before the "
              "library; link the program with libtombolo.so, not with libtombolo.a or -static",
              run->list);
  const bool refused = run->area->refused != 0;
  if (refused)
    tmb_print(
        "run: --check %s: loads and stores were not watched: the program, or a shared library "
        "of it, was compiled with --check by another version of Tombolo; compile it again",
        run->list);
  if (code == 0) add_memory(run->area);
  struct check_line *const lines = check_lines(run->area);
  if (lines) {
    check_print_text(run->area, lines, stderr);
    if (run->json) written = write_json(run, lines);
    check_lines_free(lines, run->area->sites);
  }
  (void)munmap(run->area, run->area->bytes);
  close(run->fd);
  run->area = NULL;
  if ((unchecked || refused || !written) && code == 0) return TOOL_EXIT_FAILED;
  return found && code == 0 ? (int)tmb_cfg_int(TMB_CFG_CHECK_EXIT) : code;
}
