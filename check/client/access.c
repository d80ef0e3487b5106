/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler's calls before loads and stores.
 *
 * Owns: the pointer to what is watched, and where inline.s looks. Called by code that is compiled
 * with -fsanitize=thread. Calls: the checker, if it is loaded. Functions that enter and leave a
 * function of the program do nothing: the line of an access is that of its own call.
 */
#define _GNU_SOURCE
#include "check/client/client.h"

#include <dlfcn.h>

static const struct chk_watch nothing;
const struct chk_watch *chk_watched = &nothing;

/* Named by inline.s, with offsets and numbers. */
__attribute__((visibility("hidden"))) struct chk_near tombolo_check_near;
_Static_assert(sizeof(void *) != 8 || offsetof(struct chk_near, word[CHK_STORE]) == 32,
               "inline.s has offsets 0, 8, 16, 24 and 32");
#define SEEN(field) ((long)offsetof(struct chk_seen, field) - (long)offsetof(struct chk_seen, word))
_Static_assert(sizeof(void *) != 8 || (SEEN(part) == -0x8000000 && SEEN(group) == -0x8040000),
               "inline.s has these flags");
_Static_assert(CHK_WORDS_OF_PART == 1 << 6 && CHK_PARTS_OF_GROUP == 1 << 9, "as its shifts");

__attribute__((noinline)) void chk_pass(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  chk_watched->access(addr, bytes, kind, pc);
}

/* Of each program and shared library its own, whichever of them has the compiler's call. */
static void start(void) {
  struct chk_watch *const found = dlsym(RTLD_DEFAULT, "tombolo_check_watch");
  if (!found || found->size != sizeof *found || chk_watched == found) return;
  found->files = 1;
  chk_watched = found;
  found->join(&tombolo_check_near, 0);
}

void __tsan_init(void);
void __tsan_init(void) {
  start();
}

/* Before other constructors, which may use the library. */
__attribute__((constructor(101))) static void begin(void) {
  start();
}

/* A shared library may be unloaded. After other destructors, whose accesses are seen. */
__attribute__((destructor(101))) static void end(void) {
  if (chk_watched->join) chk_watched->join(&tombolo_check_near, 1);
  chk_watched = &nothing;
}

#define PC() __builtin_return_address(0)

#define ACCESS(name, tell, bytes, kind) \
 void name(const void *at);             \
 void name(const void *at) {            \
  tell(at, bytes, kind, PC());          \
 }
#define BOTH(part, tell, bytes)                              \
 ACCESS(__tsan_##part##read##bytes, tell, bytes, CHK_LOAD)   \
 ACCESS(__tsan_##part##write##bytes, tell, bytes, CHK_STORE) \
 ACCESS(__tsan_##part##read_write##bytes, tell, bytes, CHK_STORE)
#define ALL(part, tell) \
 BOTH(part, tell, 1)    \
 BOTH(part, tell, 2) BOTH(part, tell, 4) BOTH(part, tell, 8) BOTH(part, tell, 16)

ALL(, chk_tell_word)
ALL(unaligned_, chk_tell_any)
ALL(volatile_, chk_tell_word)
ALL(unaligned_volatile_, chk_tell_any)

/* An access that inline.s has not settled. in,out word: the word of its line, when that is known.
 */
static inline void tell_inlined(const void *at, size_t bytes, int kind, const void *pc,
                                uint16_t *word) {
  const struct chk_watch *const w = chk_watched;
  chk_tell_word(at, bytes, kind, pc);
  if (!chk_in(&w->own, (uintptr_t)at)) return;
  const uint32_t line = chk_line_known(w->seen[kind], pc);
  if (line) __atomic_store_n(word, (uint16_t)(CHK_WHOLE | line), __ATOMIC_RELAXED);
}

#define INLINED(name, bytes, kind)                                                                \
 __attribute__((visibility("hidden"))) void tombolo_check_##name(const void *at, uint16_t *word); \
 void tombolo_check_##name(const void *at, uint16_t *word) {                                      \
  tell_inlined(at, bytes, kind, PC(), word);                                                      \
 }
INLINED(load8, 8, CHK_LOAD)
INLINED(store8, 8, CHK_STORE)
INLINED(load16, 16, CHK_LOAD)
INLINED(store16, 16, CHK_STORE)

#define WITH_PC(bytes)                                           \
 void __tsan_read##bytes##_pc(const void *at, const void *pc);   \
 void __tsan_read##bytes##_pc(const void *at, const void *pc) {  \
  chk_tell_word(at, bytes, CHK_LOAD, pc);                        \
 }                                                               \
 void __tsan_write##bytes##_pc(const void *at, const void *pc);  \
 void __tsan_write##bytes##_pc(const void *at, const void *pc) { \
  chk_tell_word(at, bytes, CHK_STORE, pc);                       \
 }
WITH_PC(1)
WITH_PC(2)
WITH_PC(4)
WITH_PC(8)
WITH_PC(16)

void __tsan_read_range(const void *at, size_t bytes);
void __tsan_read_range(const void *at, size_t bytes) {
  chk_tell(at, bytes, CHK_LOAD, PC());
}

void __tsan_write_range(const void *at, size_t bytes);
void __tsan_write_range(const void *at, size_t bytes) {
  chk_tell(at, bytes, CHK_STORE, PC());
}

void __tsan_vptr_read(const void *at);
void __tsan_vptr_read(const void *at) {
  chk_tell(at, sizeof(void *), CHK_LOAD, PC());
}

void __tsan_vptr_update(void *const *at, const void *value);
void __tsan_vptr_update(void *const *at, const void *value) {
  if (*at != value) chk_tell(at, sizeof(void *), CHK_STORE, PC());
}

void __tsan_func_entry(const void *caller);
void __tsan_func_entry(const void *caller) {
  (void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_begin(void) {}

void __tsan_ignore_thread_end(void);
void __tsan_ignore_thread_end(void) {}
