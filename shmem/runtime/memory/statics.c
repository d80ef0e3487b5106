/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Global and static variables as symmetric objects.
 *
 * Owns: the list of data segments. Called by start.c. Calls: the dynamic linker's list of objects,
 * mremap. The writable data of the program and of its own shared libraries become pages of the
 * symmetric memory: their contents are copied there, then those pages are mapped a second time
 * where the variables are. Near peers then reach them by mapping, far ones by the network, and an
 * address of the program is translated by object and offset, because address spaces differ from PE
 * to PE. A child of fork() gets private pages again. Invariants: before the job is joined nothing
 * is moved; data of the C library, of this library and of libraries in the system's folders stay.
 */
#include "../sh.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE GASNET_PAGESIZE

/* Writable data of one object. */
struct found {
  uint32_t objects; /* so far */
  uint64_t bytes;   /* of the data segments, in pages */
  uint64_t hash;
  bool overflow;
};
static struct found found;

static uintptr_t page_down(uintptr_t at) {
  return at / PAGE * PAGE;
}
static uintptr_t page_up(uintptr_t at) {
  return (at + PAGE - 1) / PAGE * PAGE;
}

static void hash_in(uint64_t value) {
  found.hash = (found.hash ^ value) * UINT64_C(1099511628211);
}

bool sh_object_holds(const struct dl_phdr_info *info, const void *addr) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type == PT_LOAD &&
        (uintptr_t)addr - begin < info->dlpi_phdr[i].p_memsz)
      return true;
  }
  return false;
}

/* Whether a shared library needs this one: it was linked with it. */
static bool needs_shmem(const struct dl_phdr_info *info) {
  const ElfW(Dyn) *dyn = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dyn = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  const char *strings = NULL;
  for (const ElfW(Dyn) *d = dyn; d && d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_STRTAB) strings = (const char *)d->d_un.d_ptr;
  if (strings && (uintptr_t)strings < info->dlpi_addr) strings += info->dlpi_addr;
  for (const ElfW(Dyn) *d = dyn; strings && d && d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_NEEDED && strstr(strings + d->d_un.d_val, "libshmem_tombolo")) return true;
  return false;
}

/* Whether an object is a library of Tombolo: threads of a conduit may write its data while they are
 * copied. */
static bool is_tombolo(const struct dl_phdr_info *info) {
  static const char *const names[] = {"libtombolo", "libcaf_tombolo", "libprif_tombolo"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strstr(info->dlpi_name, names[i])) return true;
  return sh_object_holds(info, &sh) ||
         sh_object_holds(info, (const void *)(uintptr_t)gexx_client_join);
}

/* Whether the data of an object are placed. The program is the first in the list. */
static bool is_ours(const struct dl_phdr_info *info, bool first) {
  if (first) return true;
  if (is_tombolo(info)) return false;
  static const char *const system[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
  for (size_t i = 0; i < sizeof system / sizeof *system; i++)
    if (strncmp(info->dlpi_name, system[i], strlen(system[i])) == 0) return needs_shmem(info);
  return strchr(info->dlpi_name, '/') != NULL;
}

static void add_range(uintptr_t begin, uintptr_t end, uintptr_t file_end) {
  if (begin >= end) return;
  if (sh.ranges == SH_RANGES) {
    found.overflow = true;
    return;
  }
  const uintptr_t from_file = file_end > begin ? page_up(file_end) - begin : 0;
  sh.range[sh.ranges++] = (struct sh_range){begin, end - begin, found.bytes, from_file};
  found.bytes += end - begin;
}

/* The writable pages of a segment, but for those that become read-only after relocation. */
static void add_segment(const struct dl_phdr_info *info, const ElfW(Phdr) * segment) {
  uintptr_t begin = page_down(info->dlpi_addr + segment->p_vaddr);
  const uintptr_t end = page_up(info->dlpi_addr + segment->p_vaddr + segment->p_memsz);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *relro = &info->dlpi_phdr[i];
    if (relro->p_type != PT_GNU_RELRO) continue;
    const uintptr_t at = info->dlpi_addr + relro->p_vaddr;
    const uintptr_t last = page_down(at + relro->p_memsz);
    if (at >= begin && last <= end && page_down(at) == begin) begin = last;
  }
  hash_in(begin - info->dlpi_addr);
  hash_in(end - begin);
  add_range(begin, end, info->dlpi_addr + segment->p_vaddr + segment->p_filesz);
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  (void)arg;
  const bool first = found.objects++ == 0;
  if (!is_ours(info, first)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_W))
      add_segment(info, &info->dlpi_phdr[i]);
  return 0;
}

uint64_t sh_statics_find(void) {
  found = (struct found){.hash = UINT64_C(14695981039346656037)};
  sh.ranges = 0;
  dl_iterate_phdr(visit, NULL);
  if (found.overflow)
    sh_say("more than %d data segments; global variables of the libraries loaded last are not "
           "symmetric [TMB-2306]",
           SH_RANGES);
  return found.bytes;
}

uint64_t sh_statics_hash(void) {
  return found.hash;
}

uint64_t sh_offset_static(uintptr_t addr) {
  for (uint32_t i = 0; i < sh.ranges; i++)
    if (addr - sh.range[i].begin < sh.range[i].bytes)
      return addr - sh.range[i].begin + sh.range[i].offset;
  return SH_NOWHERE;
}

/* Whether this process has one thread. A thread that writes a variable while it is copied would
 * lose the write, and the library's own threads write theirs where it is linked statically. */
static bool is_alone(void) {
  char text[512];
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char *at = strrchr(text, ')');
  long threads = 0;
  return at &&
         sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                &threads) == 1 &&
         threads == 1;
}

/* Copies pages. Not by memcpy, which the address sanitizer replaces: it refuses to read the gaps
 * that it leaves between variables. */
__attribute__((no_sanitize("address"))) static void copy_words(void *to, const void *from,
                                                               size_t bytes) {
  uint64_t *const words = to;
  const volatile uint64_t *const read = from;
  for (size_t i = 0; i < bytes / sizeof *words; i++) words[i] = read[i];
}

/* Copies the pages of the file, and those of the zeros behind it that were written. */
static void copy_pages(char *to, const struct sh_range *range) {
  const char *const from = (const char *)range->begin;
  copy_words(to, from, range->from_file);
  if (range->from_file >= range->bytes) return;
  const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  uint64_t entry[512];
  for (size_t at = range->from_file; at < range->bytes;) {
    const size_t left = (range->bytes - at) / PAGE;
    const size_t pages = left < 512 ? left : 512;
    const off_t where = (off_t)((uintptr_t)(from + at) / PAGE * sizeof *entry);
    const ssize_t want = (ssize_t)(pages * sizeof *entry);
    const bool known = fd >= 0 && pread(fd, entry, (size_t)want, where) == want;
    for (size_t i = 0; i < pages; i++)
      if (!known || (entry[i] & (UINT64_C(3) << 62))) /* in memory, or swapped */
        copy_words(to + at + i * PAGE, from + at + i * PAGE, PAGE);
    at += pages * PAGE;
  }
  if (fd >= 0) close(fd);
}

/* mremap to an address. Hooks of MPI libraries replace the function of libc, and some lose the
 * address. */
static bool remap(void *from, size_t old_bytes, size_t bytes, void *to) {
  return syscall(SYS_mremap, from, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
         (long)(intptr_t)to;
}

/* Maps the pages of the symmetric memory at `offset` where the variables are. */
static bool place(const struct sh_range *range) {
  char *const from = sh.base + range->offset;
  copy_pages(from, range);
  /* of size 0: a second mapping of these pages, which replaces that of the variables */
  return remap(from, 0, range->bytes, (void *)range->begin);
}

/* In a child of fork(): private copies of the pages, as any child has them. */
static void in_child(void) {
  for (uint32_t i = 0; i < sh.ranges; i++) {
    void *const at = (void *)sh.range[i].begin;
    const size_t bytes = sh.range[i].bytes;
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) continue;
    copy_words(copy, at, bytes);
    (void)remap(copy, bytes, bytes, at);
  }
}

/* Reason why nothing can be placed; NULL: none. */
static const char *obstacle(bool same) {
  if (!same) return "the PEs run different programs or libraries";
  const bool in_program = sh_offset_static((uintptr_t)&sh) != SH_NOWHERE;
  if (in_program && !is_alone())
    return "the program is linked with libshmem_tombolo.a, and the network has a thread; link with "
           "libshmem_tombolo.so";
  return NULL;
}

void sh_statics_place(bool same) {
  const char *why = obstacle(same);
  void *twice = why || !sh.ranges ? NULL : mremap(sh.base, 0, PAGE, MREMAP_MAYMOVE);
  if (twice == MAP_FAILED)
    why = "the symmetric memory cannot be mapped twice";
  else if (twice)
    munmap(twice, PAGE);
  if (why) {
    if (sh.pe == 0)
      sh_say("global and static variables are not symmetric: %s; use shmem_malloc [TMB-2305]", why);
    sh.ranges = 0;
    sh.range[0].bytes = 0; /* sh_offset looks here first */
    return;
  }
  for (uint32_t i = 0; i < sh.ranges; i++)
    if (!place(&sh.range[i]))
      sh_fatal("init", "the data segment at %p, %llu bytes, cannot be placed: %m [TMB-2304]",
               (void *)sh.range[i].begin, (unsigned long long)sh.range[i].bytes);
  for (uint32_t i = 0; sh.traced && i < sh.ranges; i++)
    gexx_check_alias(sh.pe, (const void *)sh.range[i].begin, sh.range[i].bytes,
                     sh.base + sh.range[i].offset);
  if (sh.ranges) pthread_atfork(NULL, NULL, in_child);
}
