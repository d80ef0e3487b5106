/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source lines, see source.h.
 *
 * Owns: no state. Called as source.h says. Calls: command.c. The address in the program is that of
 * the segment which has the offset (ELF program headers). A return address is that of the
 * instruction after the call, so the one before is asked for. Invariants: names of files are
 * arguments, never part of a shell's command.
 */
#define _GNU_SOURCE
#include "boot/explain/source.h"

#include "boot/explain/command.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOOL_MS 20000 /* for addr2line, which reads large debug information for seconds */

uint64_t tmb_source_address(const char *file, uint64_t offset) {
  ElfW(Ehdr) head;
  uint64_t address = 0;
  const int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  if (pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
      memcmp(head.e_ident, ELFMAG, SELFMAG) == 0) {
    for (unsigned i = 0; i < head.e_phnum && !address; i++) {
      ElfW(Phdr) part;
      if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) !=
          (ssize_t)sizeof part)
        break;
      if (part.p_type == PT_LOAD && offset >= part.p_offset &&
          offset - part.p_offset < part.p_filesz)
        address = offset - part.p_offset + part.p_vaddr;
    }
  }
  close(fd);
  return address;
}

/* Skip functions inlined from the headers of the UPC compiler: the place is where the program uses
 * them. Addr2line gives two lines for each function, the innermost first. */
static char *skip_access(char *text) {
  for (;;) {
    char *place = strchr(text, '\n');
    char *next = place ? strchr(place + 1, '\n') : NULL;
    if (!next || !next[1] || !strchr(next + 1, '\n')) return text;
    *next = '\0';
    const bool inner = strstr(place, "/upcr.h:") || strstr(place, "/upcr_access.h:");
    *next = '\n';
    if (!inner) return text;
    text = next + 1;
  }
}

/* Words from two lines of addr2line: the function, the file with its line. */
static bool words_of(char *text, char *to, size_t bytes) {
  char *place = strchr(text, '\n');
  if (!place) return false;
  *place++ = '\0';
  text[strcspn(text, ".\n")] = '\0'; /* inner functions have a number behind */
  place[strcspn(place, "\n")] = '\0';
  char *const more = strstr(place, " (discriminator");
  if (more) *more = '\0';
  const char *line = strrchr(place, ':');
  if (!line || line[1] == '?' || line[1] == '0' || !line[1]) {
    if (text[0] == '?' || !text[0]) return false;
    snprintf(to, bytes, "%.150s", text); /* no -g: the function only */
    return true;
  }
  const char *base = strrchr(place, '/');
  const bool named = text[0] != '?' && strcmp(text, "MAIN__") != 0 &&
                     strcmp(text, "upcr_user_main") != 0; /* of Fortran, of UPC */
  snprintf(to, bytes, "%.90s%s%.80s%s", base ? base + 1 : place, named ? " (in " : "",
           named ? text : "", named ? ")" : "");
  return true;
}

void tmb_source_words(const char *file, uint64_t address, char *words) {
  static const char *const tools[] = {"addr2line", "eu-addr2line"};
  char text[4096], at[32];
  snprintf(at, sizeof at, "0x%llx", (unsigned long long)(address - 1));
  for (size_t i = 0; address && i < TMB_ARRAY_LEN(tools); i++) {
    char *const argv[] = {(char *)(uintptr_t)tools[i],
                          (char *)(uintptr_t) "-f",
                          (char *)(uintptr_t) "-i",
                          (char *)(uintptr_t) "-C",
                          (char *)(uintptr_t) "-e",
                          (char *)(uintptr_t)file,
                          at,
                          NULL};
    if (tmb_command_output(argv, text, sizeof text, TOOL_MS) &&
        words_of(skip_access(text), words, TMB_SEEN_SOURCE))
      return;
  }
  const char *base = strrchr(file, '/');
  snprintf(words, TMB_SEEN_SOURCE, "%.120s+0x%llx", base ? base + 1 : file,
           (unsigned long long)address);
}

/* in,out source: [TMB_SEEN_SOURCE] */
static void find_one(char *source, uint64_t offset) {
  char words[TMB_SEEN_SOURCE];
  const uint64_t address = tmb_source_address(source, offset);
  tmb_source_words(source, address ? address : offset, words);
  memcpy(source, words, TMB_SEEN_SOURCE);
}

void tmb_source_find(struct tmb_snapshot *s) {
  for (uint32_t r = 0; r < s->size; r++) {
    struct tmb_seen *seen = &s->rank[r];
    if (!seen->source_at) continue;
    char file[TMB_SEEN_SOURCE];
    memcpy(file, seen->source, sizeof file);
    const uint64_t at = seen->source_at;
    find_one(seen->source, at);
    seen->source_at = 0;
    for (uint32_t q = r + 1; q < s->size; q++) { /* most ranks wait at one of few places */
      struct tmb_seen *other = &s->rank[q];
      if (other->source_at != at || strcmp(other->source, file) != 0) continue;
      memcpy(other->source, seen->source, sizeof other->source);
      other->source_at = 0;
    }
  }
}
