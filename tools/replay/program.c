/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which program a recording is of.
 *
 * Owns: the file `program` of a recording: a hash of what follows, one of the program's bytes, its
 * path, and its arguments, each as text that ends with a zero. Called by replay.c. Calls: nothing.
 * A replay by another program is no error, because one that was compiled anew with `-g` or a print
 * more keeps the order.
 */
#include "replay/replay.h"
#include "tool.h"

#include "base/log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1 << 20) /* arguments behind it are not compared */

/* Hash of a file, over words. */
static uint64_t hash_file(const char *path) {
  static uint64_t words[8192];
  uint64_t h = RPL_HASH_START;
  FILE *const in = fopen(path, "re");
  size_t bytes;
  while (in && (bytes = fread(words, 1, sizeof words, in)) > 0) h = rpl_hash(h, words, bytes);
  if (in) fclose(in);
  return h;
}

/* Write what names a program. Returns the bytes. */
static size_t describe(char *out, const char *program, char **argv) {
  char whole[PATH_MAX];
  if (!realpath(program, whole)) snprintf(whole, sizeof whole, "%s", program);
  size_t at =
      (size_t)snprintf(out, FILE_BYTES_MAX, "%016llx", (unsigned long long)hash_file(program)) + 1;
  for (const char *word = whole; word; word = *++argv) {
    const size_t bytes = strlen(word) + 1;
    if (at + bytes > FILE_BYTES_MAX) break;
    memcpy(out + at, word, bytes);
    at += bytes;
  }
  return at;
}

/* The arguments of a description as text. in at: its first argument, up to `end`. */
static void as_text(const char *at, const char *end, char *out, size_t bytes) {
  size_t n = 0;
  *out = '\0';
  for (; at < end && n < bytes; at += strlen(at) + 1)
    n += (size_t)snprintf(out + n, bytes - n, "%s%s", n ? " " : "", at);
  if (!*out) snprintf(out, bytes, "none");
}

static void compare(const char *folder, const char *was, size_t was_bytes, const char *is,
                    size_t is_bytes) {
  const char *const was_path = was + strlen(was) + 1, *const is_path = is + strlen(is) + 1;
  const char *const was_args = was_path + strlen(was_path) + 1;
  const char *const is_args = is_path + strlen(is_path) + 1;
  char before[256], now[256];
  if (strcmp(was, is) != 0 && strcmp(was_path, is_path) == 0)
    tmb_print("run: --replay %s: %s has changed since it was recorded", folder, is_path);
  else if (strcmp(was, is) != 0)
    tmb_print("run: --replay %s: %s was recorded, and this is %s", folder, was_path, is_path);
  const size_t was_rest = (size_t)(was + was_bytes - was_args);
  const size_t is_rest = (size_t)(is + is_bytes - is_args);
  if (was_rest == is_rest && memcmp(was_args, is_args, is_rest) == 0) return;
  as_text(was_args, was + was_bytes, before, sizeof before);
  as_text(is_args, is + is_bytes, now, sizeof now);
  tmb_print("run: --replay %s: other arguments were recorded: %s; now: %s", folder, before, now);
}

void replay_program(const struct replay_run *run, const char *program, char **argv) {
  const char *const folder = run->record ? run->record : run->replay;
  char path[PATH_MAX];
  char *const both = folder ? malloc(2 * (size_t)FILE_BYTES_MAX + 2) : NULL;
  if (!both || snprintf(path, sizeof path, "%s/program", folder) >= PATH_MAX) {
    free(both);
    return;
  }
  char *const is = both, *const was = both + FILE_BYTES_MAX + 1;
  const size_t is_bytes = describe(is, program, argv);
  FILE *const file = fopen(path, run->record ? "we" : "re");
  if (file && run->record) {
    fprintf(file, "%016llx%c",
            (unsigned long long)replay_program_hash(run->recording, is, is_bytes), 0);
    (void)fwrite(is, 1, is_bytes, file);
  }
  if (file && run->replay) (void)fseek(file, REPLAY_SEAL_BYTES, SEEK_SET);
  const size_t was_bytes = file && run->replay ? fread(was, 1, FILE_BYTES_MAX, file) : 0;
  if (file) fclose(file);
  if (was_bytes > 18 && was[was_bytes - 1] == '\0') compare(folder, was, was_bytes, is, is_bytes);
  free(both);
}

uint64_t replay_program_hash(uint64_t recording, const void *text, size_t bytes) {
  return rpl_hash(rpl_hash(RPL_HASH_START, &recording, sizeof recording), text, bytes);
}
