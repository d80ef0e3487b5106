/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of coarrays for messages: the compiler passes none, but the program's symbols have those of
 * static and saved variables, and of variables of modules and of the main program.
 *
 * Owns nothing beyond a call. Called by the files that report errors. Calls: the program's own ELF
 * file. Invariants: an allocatable variable is the symbol that has the coarray's token, a static
 * one the pointer of 8 bytes that has its address; variables of procedures are on the stack and
 * have no name, nor has anything in a program that was stripped.
 */
#include "caf.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image_file {
  const char *at; /* the program's file, mapped */
  size_t bytes;
  uintptr_t bias; /* offset that the loader has added to its addresses */
};

static int first_object(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  *(uintptr_t *)arg = info->dlpi_addr;
  return 1; /* the program comes first */
}

static bool map_program(struct image_file *f) {
  struct stat st;
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  void *at = MAP_FAILED;
  if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(ElfW(Ehdr)))
    at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return false;
  f->at = at;
  f->bytes = (size_t)st.st_size;
  dl_iterate_phdr(first_object, &f->bias);
  return true;
}

/* A part of the file; NULL where it is not there. */
static const void *part(const struct image_file *f, size_t offset, size_t bytes) {
  return offset <= f->bytes && bytes <= f->bytes - offset ? f->at + offset : NULL;
}

/* The source's name in a symbol: __module_MOD_name, name.12 */
static void copy_name(char *to, size_t room, const char *symbol) {
  const char *module = strstr(symbol, "_MOD_");
  snprintf(to, room, "%s", module && strncmp(symbol, "__", 2) == 0 ? module + 5 : symbol);
  char *dot = strrchr(to, '.');
  if (dot && dot != to && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1)) *dot = 0;
}

static bool is_variable(const struct image_file *f, const ElfW(Sym) * s, const char *name,
                        const struct caf_token *t) {
  if (ELF64_ST_TYPE(s->st_info) != STT_OBJECT || s->st_shndx == SHN_UNDEF) return false;
  if (strncmp(name, "caf_token", 9) == 0) return false;
  const uintptr_t at = f->bias + s->st_value;
  if ((uintptr_t)t->token_p - at < s->st_size) return true;
  if (s->st_size != sizeof(void *)) return false;
  const void *content;
  memcpy(&content, (const void *)at, sizeof content);
  return content == t->base;
}

static bool find_in(const struct image_file *f, const ElfW(Shdr) * symbols,
                    const ElfW(Shdr) * strings, const struct caf_token *t, char *to, size_t room) {
  const ElfW(Sym) *s = part(f, symbols->sh_offset, symbols->sh_size);
  const char *text = part(f, strings->sh_offset, strings->sh_size);
  if (!s || !text) return false;
  for (size_t i = 0; i < symbols->sh_size / sizeof *s; i++) {
    if (s[i].st_name >= strings->sh_size || !is_variable(f, &s[i], text + s[i].st_name, t))
      continue;
    copy_name(to, room, text + s[i].st_name);
    return true;
  }
  return false;
}

const char *caf_name_of(const struct caf_token *t, char *to, size_t room) {
  struct image_file f;
  bool found = false;
  snprintf(to, room, "a coarray");
  if (!t || !t->token_p || !t->base || !map_program(&f)) return to;
  const ElfW(Ehdr) *head = (const void *)f.at;
  const ElfW(Shdr) *section = part(&f, head->e_shoff, head->e_shnum * sizeof *section);
  for (unsigned i = 0; section && !found && i < head->e_shnum; i++)
    if (section[i].sh_type == SHT_SYMTAB && section[i].sh_link < head->e_shnum)
      found = find_in(&f, &section[i], &section[section[i].sh_link], t, to + 8, room - 8);
  if (found) memcpy(to, "coarray ", 8);
  munmap((void *)(uintptr_t)f.at, f.bytes);
  return to;
}
