/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the program, or a library in front of this one, defines a routine of OpenSHMEM: in the
 * shared library.
 *
 * Owns nothing. Called by inline.c. Calls: the dynamic linker's list of objects. Objects are in the
 * order in which symbols are looked up, so those before this library are searched. To compare the
 * address of each routine would have the dynamic linker look up hundreds of names at each start.
 * Invariant: another function whose name begins with shmem_ counts, too; that costs time only.
 */
#include "../sh.h"

#include <link.h>
#include <string.h>

/* Address that a tag of the dynamic section holds; NULL: the object has no such tag. */
static const void *entry(const struct dl_phdr_info *info, ElfW(Sxword) tag) {
  const ElfW(Dyn) *dyn = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dyn = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
    if (dyn->d_tag != tag) continue;
    const uintptr_t at = dyn->d_un.d_ptr;
    return (const void *)(at < info->dlpi_addr ? at + info->dlpi_addr : at);
  }
  return NULL;
}

/* Symbols that an object defines: [first, end) of its table. */
struct defined {
  uint32_t first, end;
};

/* By the hash table of GNU, whose chains end in odd words. */
static struct defined hashed(const uint32_t *table) {
  const uint32_t buckets = table[0], first = table[1];
  const uint32_t *const bucket = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
  const uint32_t *const chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; i++)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return (struct defined){0, 0};
  while (!(chain[last - first] & 1)) last++;
  return (struct defined){first, last + 1};
}

/* Stops at this library. in arg: bool, set where a routine is found. */
static int visit(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  bool *const found = arg;
  const ElfW(Sym) *const symbols = entry(info, DT_SYMTAB);
  const char *const names = entry(info, DT_STRTAB);
  const uint32_t *const gnu = entry(info, DT_GNU_HASH), *const old = entry(info, DT_HASH);
  if (sh_object_holds(info, &sh)) return 1;
  if (!symbols || !names || (!gnu && !old)) return 0;
  const struct defined all = gnu ? hashed(gnu) : (struct defined){0, old[1]};
  for (uint32_t i = all.first; i < all.end && !*found; i++) {
    const unsigned type = symbols[i].st_info & 0xf;
    *found = symbols[i].st_shndx != SHN_UNDEF && type != STT_OBJECT &&
             strncmp(names + symbols[i].st_name, "shmem_", 6) == 0;
  }
  return *found;
}

bool sh_interposed(void) {
  bool found = false;
  dl_iterate_phdr(visit, &found);
  return found;
}
