/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of ranks, see stacks.h.
 *
 * Owns: nothing beyond a call. Called as stacks.h says. Calls: command.c, explain_words. Frames
 * come one a line from the inside out: of eu-stack "#1  0x12 name - /module", the source in the
 * next line; of gdb "#1  0x12 in name (arguments) at file:12". Invariants: frames from the
 * outermost one of the library inwards are left out, and those of the C library around main.
 */
#define _GNU_SOURCE
#include "boot/explain/stacks.h"

#include "boot/explain/command.h"
#include "boot/explain/explain_words.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES 65536
#define TOOL_MS      15000
#define FRAMES_MAX   64 /* read of a thread */
#define SHOWN_MAX    4  /* frames shown of a thread */
#define RANKS_MAX    4  /* shown unless all are asked for */

struct frame {
  char name[80], place[96]; /* place: file:line, or empty */
  bool ours;                /* the library's, or of a run-time library that comes with it */
};

static bool begins(const char *text, const char *const *with, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strncmp(text, with[i], strlen(with[i])) == 0) return true;
  return false;
}

bool tmb_stacks_is_ours(const char *name, const char *module) {
  static const char *const names[] = {"tmb_",         "gex_", "gexx_", "gasnet", "_gfortran_caf_",
                                      "tombolo_caf_", "caf_", "upcr_", "upc_",   "bupc_"};
  static const char *const modules[] = {"libtombolo", "libcaf_tombolo", "tombolo-net-"};
  const char *base = strrchr(module, '/');
  if (strcmp(name, "upcr_user_main") == 0) return false;
  return begins(name, names, TMB_ARRAY_LEN(names)) ||
         begins(base ? base + 1 : module, modules, TMB_ARRAY_LEN(modules));
}

bool tmb_stacks_is_outside(const char *name) {
  static const char *const names[] = {"__libc_start", "_start", "start_thread", "clone", "?"};
  return begins(name, names, TMB_ARRAY_LEN(names));
}

static bool is_outside(const struct frame *f) {
  return tmb_stacks_is_outside(f->name) || strncmp(f->place, "crt.c:", 6) == 0;
}

/* Copy a place: the last component of the path, and the line without the column. Places in the C
 * library say nothing of the program. */
static void copy_place(struct frame *f, const char *from, size_t length) {
  static const char *const libc[] = {"../sysdeps/", "./sysdeps/", "../csu/", "./nptl/", "../nptl/"};
  if (begins(from, libc, TMB_ARRAY_LEN(libc))) return;
  const char *base = memrchr(from, '/', length);
  if (base) {
    length -= (size_t)(base + 1 - from);
    from = base + 1;
  }
  const char *colon = memchr(from, ':', length);
  const char *column = colon ? memchr(colon + 1, ':', length - (size_t)(colon + 1 - from)) : NULL;
  if (column) length = (size_t)(column - from);
  snprintf(f->place, sizeof f->place, "%.*s", (int)TMB_MIN(length, sizeof f->place - 1), from);
}

/* Read a line "#N ...". */
static void read_frame(struct frame *f, const char *line, size_t length) {
  char text[1024];
  *f = (struct frame){.name = "?"};
  snprintf(text, sizeof text, "%.*s", (int)TMB_MIN(length, sizeof text - 1), line);
  char *at = text + strcspn(text, " ");
  at += strspn(at, " ");
  if (strncmp(at, "0x", 2) == 0) at += strcspn(at, " ");
  at += strspn(at, " ");
  if (strncmp(at, "in ", 3) == 0) at += 3;
  const size_t name = strcspn(at, " @(");
  if (name) snprintf(f->name, sizeof f->name, "%.*s", (int)TMB_MIN(name, sizeof f->name - 1), at);
  const char *place = NULL, *module = strstr(at, " - /");
  for (char *next = strstr(at, ") at "); next; next = strstr(next + 1, ") at ")) place = next + 5;
  if (place) copy_place(f, place, strlen(place));
  char *dot = strchr(f->name, '.'); /* inner functions have a number behind */
  if (dot && dot != f->name) *dot = '\0';
  if (strcmp(f->name, "MAIN__") == 0 || strcmp(f->name, "upcr_user_main") == 0)
    snprintf(f->name, sizeof f->name, "the main program"); /* of Fortran, of UPC */
  f->ours = tmb_stacks_is_ours(f->name, module ? module + 3 : "");
}

/* Print a thread. Returns whether it has frames of the program. */
static bool print_thread(const struct frame *f, uint32_t count, const char *who, FILE *out) {
  uint32_t first = 0, shown = 0;
  for (uint32_t i = 0; i < count; i++)
    if (f[i].ours) first = i + 1;
  if (first == 0) { /* its own code, perhaps inside of the C library */
    while (first < count && !f[first].place[0]) first++;
    if (first == count) first = 0;
  }
  for (uint32_t i = first; i < count && shown < SHOWN_MAX; i++) {
    if (is_outside(&f[i])) continue;
    if (!shown) fprintf(out, "%s is in ", who);
    fprintf(out, "%s%s%s%s%s", shown ? ", called by " : "", f[i].name, f[i].place[0] ? " (" : "",
            f[i].place, f[i].place[0] ? ")" : "");
    shown++;
  }
  if (shown) fprintf(out, "\n");
  return shown > 0;
}

/* Print a tool's output for a process. Returns whether any thread has frames of the program. */
static bool print_process(const char *text, const char *who, FILE *out) {
  struct frame *frames = calloc(FRAMES_MAX, sizeof *frames);
  uint32_t count = 0;
  bool any = false;
  for (const char *line = text; frames && *line;) {
    const size_t length = strcspn(line, "\n");
    if (*line == '#') {
      if (count && strncmp(line, "#0 ", 3) == 0) { /* the next thread */
        any = print_thread(frames, count, who, out) || any;
        count = 0;
      }
      if (count < FRAMES_MAX) read_frame(&frames[count++], line, length);
    } else if (count && strncmp(line, "    ", 4) == 0 && !frames[count - 1].place[0]) {
      copy_place(&frames[count - 1], line + 4, length - 4);
    }
    line += length + (line[length] == '\n');
  }
  if (count) any = print_thread(frames, count, who, out) || any;
  free(frames);
  return any;
}

/* Time left for a tool, in ms. in until_ns: 0: each has its own time. */
static int left_ms(uint64_t until_ns) {
  if (!until_ns) return TOOL_MS;
  const uint64_t now = tmb_os_now_ns();
  return now >= until_ns ? 0 : (int)((until_ns - now) / 1000000);
}

/* Read the stacks of a process with an installed tool, until until_ns. out text: [OUTPUT_BYTES] */
static bool stacks_of(pid_t pid, char *text, uint64_t until_ns) {
  char number[16];
  snprintf(number, sizeof number, "%d", (int)pid);
#define ARG(text) (char *)(uintptr_t)(text)
  char *const elf[] = {ARG("eu-stack"), ARG("-s"), ARG("-m"), ARG("-p"), number, NULL};
  char *const gdb[] = {ARG("gdb"),
                       ARG("-nx"),
                       ARG("-batch"),
                       ARG("-iex"),
                       ARG("set debuginfod enabled off"),
                       ARG("-iex"),
                       ARG("set width 0"),
                       ARG("-p"),
                       number,
                       ARG("-ex"),
                       ARG("thread apply all backtrace 60"),
                       NULL};
#undef ARG
  int ms = left_ms(until_ns);
  if (ms > 0 && tmb_command_output(elf, text, OUTPUT_BYTES, ms)) return true;
  ms = left_ms(until_ns);
  return ms > 0 && tmb_command_output(gdb, text, OUTPUT_BYTES, ms);
}

/* Whether two ranks have equal waits at one place. */
static bool alike(const struct tmb_explain *e, uint32_t a, uint32_t b) {
  const struct tmb_seen *x = &e->now->rank[a], *y = &e->now->rank[b];
  const struct tmb_status_wait *v = &x->status.wait[0], *w = &y->status.wait[0];
  return e->condition[a] == e->condition[b] && v->kind == w->kind && v->number == w->number &&
         v->what == w->what && strcmp(x->source, y->source) == 0;
}

static bool is_wanted(const struct tmb_explain *e, uint32_t rank, const uint8_t *shown) {
  const enum tmb_condition c = e->condition[rank];
  if (c == TMB_SEEN_MOVES || c == TMB_SEEN_ENDED || c == TMB_SEEN_ABSENT) return false;
  for (uint32_t r = 0; r < rank; r++)
    if (shown[r] && alike(e, r, rank)) return false;
  return true;
}

uint32_t tmb_stacks_print(const struct tmb_explain *e, FILE *out, bool all, uint32_t limit_ms) {
  const struct tmb_snapshot *s = e->now;
  char *text = malloc(OUTPUT_BYTES), who[TMB_WORDS_NAME];
  uint8_t *shown = calloc(s->size, 1);
  uint32_t count = 0;
  const uint64_t until_ns = limit_ms ? tmb_os_now_ns() + limit_ms * UINT64_C(1000000) : 0;
  for (uint32_t r = 0; text && shown && r < s->size && (all || count < RANKS_MAX); r++) {
    const struct tmb_seen *seen = &s->rank[r];
    const bool here = seen->here && seen->process && seen->process != 'Z' &&
                      strcmp(seen->status.host, tmb_os_hostname()) == 0;
    if (!here || (!all && !is_wanted(e, r, shown)) || !stacks_of(seen->pid, text, until_ns))
      continue;
    if (!print_process(text, tmb_words_name(s, r, who, sizeof who), out)) continue;
    shown[r] = 1;
    count++;
  }
  free(text);
  free(shown);
  return count;
}
