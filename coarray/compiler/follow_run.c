/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of an accessor on a copy of its coarray; see follow_run.h.
 *
 * Owns: the signal handlers of the child that makes a trial. Called by follow.c. Calls: try.c,
 * accessors. Invariant: no run reaches memory that other processes have.
 */
#include "compiler/follow_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct caf_runs caf_runs;

/* Fills the page of an address with bytes. Returns false where there can be no more. */
static bool fill_page(uintptr_t at) {
  char *const page = caf_runs.regions + at / caf_runs.page * caf_runs.page;
  if (caf_runs.pages == CAF_RUN_PAGES_MAX ||
      mprotect(page, caf_runs.page, PROT_READ | PROT_WRITE) != 0)
    return false;
  memset(page, caf_runs.value, caf_runs.page);
  caf_runs.filled[caf_runs.pages++] = page;
  return true;
}

static void on_fault(int sig, siginfo_t *info, void *context) {
  (void)sig;
  (void)context;
  const uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)caf_runs.regions;
  caf_runs.at = (uintptr_t)info->si_addr;
  caf_runs.trapped = at < caf_runs.bytes;
  if (at < caf_runs.bytes || at >= CAF_RUN_REGIONS * caf_runs.bytes || !fill_page(at))
    siglongjmp(caf_runs.end, 1);
}

bool caf_run_is_mapped(uintptr_t word) {
  static struct {
    uintptr_t page;
    bool mapped;
  } known[256]; /* of the last answers: the call of the kernel takes most of a trial */
  const uintptr_t page = word / caf_runs.page;
  const size_t slot = page % (sizeof known / sizeof known[0]);
  unsigned char resident;
  if (word >> 56 || !page) return false;
  if (known[slot].page != page) {
    known[slot].page = page;
    known[slot].mapped = mincore((void *)(page * caf_runs.page), 1, &resident) == 0;
  }
  return known[slot].mapped;
}

/* Whether a word may be an address that an accessor follows. */
static bool is_address(const struct caf_trial *t, uintptr_t word) {
  return caf_bound_has(t->rank, word) || (word && caf_run_is_mapped(word));
}

static uintptr_t moved(const struct caf_trial *t, uintptr_t word, unsigned region) {
  const uintptr_t offset = caf_bound_has(t->rank, word)
                               ? word - caf.bound[t->rank].low
                               : word % caf_runs.bytes / CAF_RUN_WORD * CAF_RUN_WORD;
  return (uintptr_t)caf_runs.regions + region * caf_runs.bytes + offset;
}

/* Copies a word of the rank, with an address that is changed to one of a region. */
static void copy_word(const struct caf_trial *t, char *to, const char *from, unsigned region) {
  uint64_t word;
  memcpy(&word, from, CAF_RUN_WORD);
  if (is_address(t, word)) word = moved(t, word, region);
  memcpy(to, &word, CAF_RUN_WORD);
}

const char *caf_run_coarray(const struct caf_trial *t) {
  return (const char *)t->token->addr[t->rank] + caf.delta[t->rank];
}

/* Makes a copy of the coarray whose addresses are those of a region. Returns NULL: no memory. */
static char *copy_all(const struct caf_trial *t, unsigned region) {
  const size_t bytes = t->token->bytes;
  const char *const from = caf_run_coarray(t);
  char *const copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!copy) return NULL;
  memcpy(copy, from, bytes);
  for (size_t at = 0; at + CAF_RUN_WORD <= bytes; at += CAF_RUN_WORD)
    copy_word(t, copy + at, from + at, region);
  return copy;
}

void caf_run_trap_words(const struct caf_trial *t, uint64_t trapped) {
  const size_t element = t->element / CAF_RUN_WORD, count = t->token->bytes / CAF_RUN_WORD;
  memcpy(caf_runs.copy, caf_runs.fill, t->token->bytes);
  for (size_t i = 0; i < count; i++)
    if (trapped >> i % element & 1)
      memcpy(caf_runs.copy + i * CAF_RUN_WORD, caf_runs.trap + i * CAF_RUN_WORD, CAF_RUN_WORD);
}

void caf_run_trap_all(const struct caf_trial *t) {
  memcpy(caf_runs.copy, caf_runs.trap, t->token->bytes);
}

void caf_run_trap_part(size_t begin, size_t end, bool traps) {
  memcpy(caf_runs.copy + begin, (traps ? caf_runs.trap : caf_runs.fill) + begin, end - begin);
}

void caf_run_trap_others(const struct caf_trial *t, size_t at) {
  memcpy(caf_runs.copy, caf_runs.trap, t->token->bytes);
  copy_word(t, caf_runs.copy + at, caf_run_coarray(t) + at, CAF_RUN_FILL);
}

/* Copies the blocks into FILL. */
static void place_blocks(const struct caf_trial *t) {
  for (uint32_t b = 0; b < caf_runs.blocks; b++) {
    const struct caf_run_block *block = &caf_runs.block[b];
    const uintptr_t at = moved(t, block->at, CAF_RUN_FILL + b) - (uintptr_t)caf_runs.regions;
    const uintptr_t last = at + CAF_BOUND_BLOCK - 1;
    (void)fill_page(at);
    if (last / caf_runs.page != at / caf_runs.page) (void)fill_page(last);
    for (size_t w = 0; w < CAF_RUN_BLOCK_WORDS; w++)
      copy_word(t, caf_runs.regions + at + w * CAF_RUN_WORD,
                (const char *)block->at + w * CAF_RUN_WORD,
                block->traps >> w & 1 ? CAF_RUN_TRAP : CAF_RUN_FILL + b + 1);
  }
}

/* Makes FILL empty for a run. */
static void begin_run(const struct caf_trial *t, int value) {
  caf_runs.value = value;
  caf_runs.trapped = false;
  caf_runs.at = 0;
  for (; caf_runs.pages; caf_runs.pages--)
    (void)mprotect(caf_runs.filled[caf_runs.pages - 1], caf_runs.page, PROT_NONE);
  place_blocks(t);
}

bool caf_run_has_written(void) {
  for (size_t i = 0; i < caf_runs.pages; i++) {
    const uintptr_t at = (uintptr_t)(caf_runs.filled[i] - caf_runs.regions);
    if (at < (CAF_RUN_FILL + caf_runs.blocks) * caf_runs.bytes) continue;
    for (size_t k = 0; k < caf_runs.page; k++)
      if ((unsigned char)caf_runs.filled[i][k] != caf_runs.value) return true;
  }
  return false;
}

bool caf_run_on(const struct caf_trial *t, const struct caf_ask *ask, char *copy,
                struct caf_seen *seen, int value) {
  *seen = (struct caf_seen){.bytes = 0};
  begin_run(t, value);
  if (sigsetjmp(caf_runs.end, 1)) return false;
  return caf_try(ask, copy + t->offset, seen) == 0;
}

bool caf_run(const struct caf_trial *t, const struct caf_ask *ask, struct caf_seen *seen,
             int value) {
  return caf_run_on(t, ask, caf_runs.copy, seen, value);
}

bool caf_run_traps(const struct caf_trial *t, const struct caf_ask *ask, char *copy) {
  struct caf_seen seen;
  (void)caf_run_on(t, ask, copy, &seen, 0);
  return caf_runs.trapped;
}

bool caf_run_traps_with(const struct caf_trial *t, const struct caf_ask *ask, char *copy, size_t at,
                        unsigned region) {
  uint64_t before, word;
  memcpy(&word, caf_run_coarray(t) + at, CAF_RUN_WORD);
  memcpy(&before, copy + at, CAF_RUN_WORD);
  word = moved(t, is_address(t, word) ? word : caf_runs.bytes / 2, region);
  memcpy(copy + at, &word, CAF_RUN_WORD);
  const bool trapped = caf_run_traps(t, ask, copy);
  memcpy(copy + at, &before, CAF_RUN_WORD);
  return trapped;
}

bool caf_run_add_block(const struct caf_trial *t, uintptr_t address) {
  if (!caf_bound_has(t->rank, address) || address % CAF_RUN_WORD ||
      caf_runs.blocks == CAF_LINKS_MAX)
    return false;
  caf_runs.block[caf_runs.blocks++] = (struct caf_run_block){address, 0};
  return true;
}

bool caf_run_begin(const struct caf_trial *t) {
  struct sigaction action;
  caf_runs.page = (size_t)sysconf(_SC_PAGESIZE);
  caf_runs.bytes =
      (caf.bound[t->rank].bytes + CAF_BOUND_BLOCK + caf_runs.page - 1) & -caf_runs.page;
  caf_runs.regions = mmap(NULL, CAF_RUN_REGIONS * caf_runs.bytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (caf_runs.regions == MAP_FAILED) return false;
  caf_runs.fill = copy_all(t, CAF_RUN_FILL);
  caf_runs.trap = copy_all(t, CAF_RUN_TRAP);
  caf_runs.copy = aligned_alloc(64, (t->token->bytes + 63) / 64 * 64);
  caf_runs.part = malloc(t->token->bytes + CAF_RUN_WORD);
  if (!caf_runs.fill || !caf_runs.trap || !caf_runs.copy || !caf_runs.part) return false;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}
