/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of crashed ranks, see crashes.h.
 *
 * Owns: nothing beyond a call. Called as crashes.h says. Calls: source, stacks, command, ranklist,
 * log. A rank has left file and offset of each frame (os/process/crash.h). Addr2line gives function
 * and line for all frames of a file at once, for a call that was inlined also those of its callers.
 * Of neighbouring frames of the library only the outermost is shown: it is the call of the program.
 * Invariants: a group of ranks is one message; a frame that says nothing of the program is left
 * out.
 */
#define _GNU_SOURCE
#include "boot/explain/crashes.h"

#include "base/atomic.h"
#include "base/log.h"
#include "boot/explain/command.h"
#include "boot/explain/source.h"
#include "boot/explain/stacks.h"
#include "boot/page/ranklist.h"
#include "os/os.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_BYTES 65536
#define INLINED_MAX  4  /* functions of a frame */
#define LINES_MAX    16 /* frames shown */
#define TEXT_BYTES   3584

struct place {
  char name[100]; /* of the function, empty: not known */
  char at[192];   /* file:line, empty: not known */
};

/* The crash of a group of ranks, explained. */
struct crash {
  struct tmb_crash read;
  uint32_t places[TMB_CRASH_FRAMES];
  struct place place[TMB_CRASH_FRAMES][INLINED_MAX]; /* from the inside out */
  bool no_tool, no_lines;                            /* what is missing for more */
  bool late;                                         /* a tool has not answered in time */
  uint64_t until_ns;
};

/* ---- functions and lines */

/* Cuts the number that compilers put behind the name of a procedure inside of another. */
static void cut_number(char *name) {
  char *number = strrchr(name, '.');
  if (number && strspn(number + 1, "0123456789") == strlen(number + 1)) *number = '\0';
}

/* Copy a place; a path below the working directory is shown from there. */
static void copy_place(struct place *p, const char *name, char *at) {
  char here[PATH_MAX];
  char *behind = strstr(at, " (discriminator");
  if (behind) *behind = '\0';
  const char *line = strrchr(at, ':');
  if (name[0] != '?') snprintf(p->name, sizeof p->name, "%s", name);
  cut_number(p->name);
  if (strcmp(name, "MAIN__") == 0 || strcmp(name, "upcr_user_main") == 0)
    snprintf(p->name, sizeof p->name, "main program"); /* of Fortran, of UPC */
  if (!line || line[1] == '?' || (line[1] == '0' && !line[2]) || at[0] == '?') return;
  const size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
  const bool below = length > 1 && strncmp(at, here, length) == 0 && at[length] == '/';
  snprintf(p->at, sizeof p->at, "%.180s", below ? at + length + 1 : at);
}

/* Take the output for the frames of a file: for each its address, then pairs of lines. */
static void take_output(struct crash *c, uint32_t file, char *text) {
  uint32_t frame = 0;
  bool any = false;
  char *next = text, *line;
  while ((line = strsep(&next, "\n")) && next) {
    if (strncmp(line, "0x", 2) == 0) {
      frame += any;
      while (frame < c->read.count && c->read.file[frame] != file) frame++;
      any = true;
      continue;
    }
    char *at = strsep(&next, "\n");
    if (!any || frame >= c->read.count || !next) return;
    if (c->places[frame] < INLINED_MAX) copy_place(&c->place[frame][c->places[frame]++], line, at);
  }
}

static bool ask_tool(const char *tool, struct crash *c, uint32_t file, char *text) {
  enum { BEFORE = 6 };
  char option[] = "-afiC", option_file[] = "-e";
  char at[TMB_CRASH_FRAMES][20], *argv[BEFORE + TMB_CRASH_FRAMES] = {NULL};
  const char *name = c->read.name[file];
  const uint64_t now = tmb_os_now_ns();
  uint32_t count = 0;
  argv[count++] = (char *)(uintptr_t)tool;
  argv[count++] = option;
  argv[count++] = option_file;
  argv[count++] = (char *)(uintptr_t)name;
  for (uint32_t i = 0; i < c->read.count; i++) {
    if (c->read.file[i] != file) continue;
    const uint64_t address = tmb_source_address(name, c->read.offset[i]);
    snprintf(at[i], sizeof at[i], "0x%llx", (unsigned long long)address);
    argv[count++] = at[i];
  }
  argv[count] = NULL;
  return now < c->until_ns &&
         tmb_command_output(argv, text, OUTPUT_BYTES, (int)((c->until_ns - now) / 1000000) + 1);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Whether a file is one of those that every program has, or the interpreter of Python. */
static bool is_system(const char *module) {
  static const char *const names[] = {"libc.so",   "libc-",        "ld-",          "libpthread",
                                      "libgcc_s",  "libgfortran.", "libstdc++.so", "python",
                                      "libpython", "libasan.",     "libtsan.",     "ld-musl"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++)
    if (strncmp(module, names[i], strlen(names[i])) == 0) return true;
  return false;
}

/* Not for files whose frames are left out: the lines of the C library alone take longer. */
static void find_lines(struct crash *c) {
  static const char *const tools[] = {"addr2line", "eu-addr2line"};
  char *text = malloc(OUTPUT_BYTES);
  for (uint32_t f = 0; text && f < c->read.files; f++) {
    bool asked = false;
    if (is_system(base_of(c->read.name[f]))) continue;
    for (size_t i = 0; i < TMB_ARRAY_LEN(tools) && !asked; i++)
      asked = ask_tool(tools[i], c, f, text);
    if (asked)
      take_output(c, f, text);
    else if (access(c->read.name[f], R_OK) == 0)
      c->no_tool = true;
    c->late = c->late || (!asked && tmb_os_now_ns() >= c->until_ns);
  }
  free(text);
}

/* ---- the text */

/* Base name of the file that has a frame. */
static const char *module_of(const struct crash *c, uint32_t frame) {
  const uint8_t file = c->read.file[frame];
  return file < c->read.files ? base_of(c->read.name[file]) : "";
}

/* The words for a place of a frame. Returns false for what says nothing of the program. */
static bool put_place(struct crash *c, uint32_t frame, const struct place *p, bool ours, char *to,
                      size_t bytes) {
  const char *module = module_of(c, frame);
  const unsigned long long offset = (unsigned long long)c->read.offset[frame];
  if (!module[0]) {
    snprintf(to, bytes, "address 0x%llx, where no code is", offset);
    return frame == 0;
  }
  if (is_system(module) || tmb_stacks_is_outside(p->name)) return false;
  if (strstr(p->at, "/upc/runtime/crt.c:")) return false; /* main of every UPC program */
  if (ours) {
    snprintf(to, bytes, "%s", p->name[0] ? p->name : module);
  } else if (p->at[0]) {
    snprintf(to, bytes, "%s%s%s%s", p->name, p->name[0] ? " (" : "", p->at, p->name[0] ? ")" : "");
  } else {
    c->no_lines = true;
    snprintf(to, bytes, "%s%s%s+0x%llx%s", p->name, p->name[0] ? " (" : "", module, offset,
             p->name[0] ? ")" : "");
  }
  return true;
}

/* Lines that grow behind a text; equal ones that follow each other become one. */
struct lines {
  char text[TEXT_BYTES], last[320], held[320]; /* held: of the library, shown if no other follows */
  size_t used;
  uint32_t shown, times;
};

static void flush_line(struct lines *l) {
  char times[32] = "";
  if (!l->last[0] || l->used + sizeof l->last + sizeof times + 8 > sizeof l->text) return;
  if (l->times > 1) snprintf(times, sizeof times, ", %u times", l->times);
  if (l->shown++ < LINES_MAX)
    l->used +=
        (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "\n  %s%s", l->last, times);
  l->last[0] = '\0';
}

static void add_line(struct lines *l, const char *line) {
  if (strncmp(line, "main (", 6) == 0 && strncmp(l->last, "main program", 12) == 0) return;
  if (strcmp(l->last, line) == 0) {
    l->times++;
    return;
  }
  flush_line(l);
  snprintf(l->last, sizeof l->last, "%s", line);
  l->times = 1;
}

static void add_frames(struct crash *c, struct lines *l) {
  static const struct place unknown;
  char line[320];
  for (uint32_t i = 0; i < c->read.count; i++) {
    const uint32_t places = c->places[i] ? c->places[i] : 1;
    for (uint32_t k = 0; k < places; k++) {
      const struct place *p = c->places[i] ? &c->place[i][k] : &unknown;
      const bool ours =
          strstr(p->at, "/tombolo/") || tmb_stacks_is_ours(p->name, module_of(c, i)); /* inlined */
      if (!put_place(c, i, p, ours, line, sizeof line)) continue;
      if (!ours && l->held[0]) add_line(l, l->held);
      l->held[0] = '\0';
      if (ours)
        snprintf(l->held, sizeof l->held, "%s", line);
      else
        add_line(l, line);
    }
  }
  if (l->held[0]) add_line(l, l->held);
  flush_line(l);
}

/* The lines of a group as one text; NULL: nothing says where in the program it was. */
static char *text_of(struct crash *c) {
  char *text = NULL, more[40] = "";
  struct lines *l = calloc(1, sizeof *l);
  if (l) add_frames(c, l);
  if (l && l->shown) {
    if (l->shown > LINES_MAX) snprintf(more, sizeof more, "\n  and %u more", l->shown - LINES_MAX);
    if (asprintf(&text, "%s%s%s", l->text, more,
                 c->no_tool    ? "\n  (install addr2line, of binutils, to see functions and lines)"
                 : c->no_lines ? "\n  (compile with -g to see all lines)"
                               : "") < 0)
      text = NULL;
  }
  free(l);
  return text;
}

void tmb_crash_print(void *arg, uint32_t size, const pid_t *ranks, const char *text) {
  char list[TMB_RANKLIST_BYTES];
  uint32_t count = 0;
  (void)arg;
  for (uint32_t r = 0; r < size; r++) count += ranks[r] != 0;
  tmb_print("rank%s %s failed in%s", count == 1 ? "" : "s",
            tmb_ranklist_format(list, sizeof list, size, ranks), text);
}

/* ---- groups of ranks */

static struct tmb_crash *crash_of(const struct tmb_ctl *ctl, uint32_t rank) {
  if (tmb_ctl_record_of(ctl)[rank] == TMB_CTL_ELSEWHERE) return NULL;
  struct tmb_crash *crash = &((struct tmb_status_page *)tmb_ctl_status(ctl, rank))->crash;
  return tmb_load_acq(&crash->count) ? crash : NULL;
}

static bool alike(const struct tmb_crash *a, const struct tmb_crash *b) {
  const uint32_t count = TMB_MIN(a->count, (uint32_t)TMB_CRASH_FRAMES);
  return a->count == b->count && memcmp(a->file, b->file, count) == 0 &&
         memcmp(a->offset, b->offset, count * sizeof *a->offset) == 0 &&
         memcmp(a->name, b->name, sizeof a->name) == 0;
}

/* Copy what a rank has written, within its limits. */
static void read_crash(struct tmb_crash *to, const struct tmb_crash *from) {
  memcpy(to, from, sizeof *to);
  to->count = TMB_MIN(to->count, (uint32_t)TMB_CRASH_FRAMES);
  to->files = TMB_MIN(to->files, (uint32_t)TMB_CRASH_FILES);
  for (uint32_t f = 0; f < to->files; f++) to->name[f][TMB_CRASH_NAME - 1] = '\0';
}

void tmb_crash_print_alone(const struct tmb_crash *crash, uint32_t limit_ms) {
  struct crash *c = calloc(1, sizeof *c);
  if (!c) return;
  c->until_ns = tmb_os_now_ns() + limit_ms * UINT64_C(1000000);
  read_crash(&c->read, crash);
  find_lines(c);
  char *text = text_of(c);
  if (text) tmb_crash_print(NULL, 1, &(pid_t){1}, text);
  free(text);
  free(c);
}

/* Mark the ranks at the place of a crash, the first of which is `from`. in ranks: [size] zeroed */
static void mark_alike(const struct tmb_ctl *ctl, uint32_t from, pid_t *ranks) {
  const struct tmb_crash *first = crash_of(ctl, from);
  for (uint32_t r = from; r < ctl->size; r++) {
    const struct tmb_crash *other = crash_of(ctl, r);
    if (other && alike(first, other)) ranks[r] = 1;
  }
}

/* Hand each group to fn. in keep_late: those without lines in time stay. */
static void each_group(const struct tmb_ctl *ctl, uint64_t until_ns, bool keep_late,
                       tmb_crash_fn *fn, void *arg) {
  pid_t *ranks = calloc(ctl->size, sizeof *ranks);
  struct crash *c = malloc(sizeof *c);
  for (uint32_t r = 0; ranks && c && r < ctl->size; r++) {
    struct tmb_crash *first = crash_of(ctl, r);
    if (!first) continue;
    memset(c, 0, sizeof *c);
    memset(ranks, 0, ctl->size * sizeof *ranks);
    c->until_ns = until_ns;
    read_crash(&c->read, first);
    mark_alike(ctl, r, ranks);
    find_lines(c);
    if (keep_late && c->late) break;
    char *text = text_of(c);
    if (text) fn(arg, ctl->size, ranks, text);
    free(text);
    for (uint32_t q = r; q < ctl->size; q++)
      if (ranks[q]) tmb_store_rel(&crash_of(ctl, q)->count, 0u);
  }
  free(ranks);
  free(c);
}

void tmb_crashes_each(const struct tmb_ctl *ctl, uint32_t limit_ms, tmb_crash_fn *fn, void *arg) {
  each_group(ctl, tmb_os_now_ns() + limit_ms * UINT64_C(1000000), true, fn, arg);
}

void tmb_crashes_print(const struct tmb_ctl *ctl, uint32_t limit_ms) {
  each_group(ctl, tmb_os_now_ns() + limit_ms * UINT64_C(1000000), false, tmb_crash_print, NULL);
}
