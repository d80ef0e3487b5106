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
chk_replay_fn *chk_replay;

/* Named by inline.s, with offsets and numbers. */
__attribute__((visibility("hidden"))) struct chk_near tombolo_check_near;
/* Where several threads may race with each other, each adds this to the address of a run. */
__attribute__((visibility("hidden"),
               tls_model("initial-exec"))) _Thread_local intptr_t tombolo_check_copy;
/* All runs of inline.s, by the linker. */
extern struct chk_run __start_tombolo_check_runs[] __attribute__((weak, visibility("hidden"))),
    __stop_tombolo_check_runs[] __attribute__((weak, visibility("hidden")));
_Static_assert(sizeof(void *) != 8 || offsetof(struct chk_near, word[CHK_STORE]) == 32,
               "inline.s has offsets 0, 8, 16, 24 and 32");
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(struct chk_run) == 40 && offsetof(struct chk_run, word) == 24 &&
                    offsetof(struct chk_run, tries) == 26 && CHK_RUN_TRIES == 16),
               "it makes runs");
_Static_assert(sizeof(void *) != 8 || (offsetof(struct chk_near, mine) == 48 &&
                                       offsetof(struct chk_mine, bytes) == 8 &&
                                       offsetof(struct chk_mine, word[CHK_STORE]) == 40),
               "SETTLE has these offsets");
#define SEEN(field) ((long)offsetof(struct chk_seen, field) - (long)offsetof(struct chk_seen, word))
_Static_assert(sizeof(void *) != 8 || (SEEN(part) == -0x8000000 && SEEN(group) == -0x8040000),
               "inline.s has these flags");
_Static_assert(sizeof(void *) != 8 || SEEN(line) == -0x8052000, "SETTLE has it");
_Static_assert(CHK_WORDS_OF_PART == 1 << 6 && CHK_PARTS_OF_GROUP == 1 << 9, "as its shifts");

__attribute__((noinline)) void chk_pass(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  chk_watched->access(addr, bytes, kind, pc);
}

/* Of each program and shared library its own, whichever of them has the compiler's call. */
static void start(void) {
  void *const replay = dlsym(RTLD_DEFAULT, "tombolo_replay_atomic");
  memcpy(&chk_replay, &replay, sizeof replay);
  struct chk_watch *const found = dlsym(RTLD_DEFAULT, "tombolo_check_watch");
  if (!found || chk_watched == found) return;
  if (found->size != sizeof *found || found->layout != CHK_LAYOUT) {
    found->refused = 1;
    return;
  }
  found->files = 1;
  tombolo_check_near.runs = __start_tombolo_check_runs;
  tombolo_check_near.runs_end = __stop_tombolo_check_runs;
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
  if (chk_watched->runs_end) chk_watched->runs_end();
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

/* Also of a program that casts pointers, whose accesses may cross a multiple of 8. */
ALL(, chk_tell_any)
ALL(unaligned_, chk_tell_any)
ALL(volatile_, chk_tell_volatile)
ALL(unaligned_volatile_, chk_tell_volatile)

#if defined __x86_64__ && defined __LP64__
/* Called by inline.s for an access that it has not settled, from a place behind the function. In
 * the frames the caller is the access, whose place is in rdx. */
__asm__(".pushsection .text\n"
        ".globl tombolo_check_settle\n"
        ".hidden tombolo_check_settle\n"
        ".type tombolo_check_settle, @function\n"
        "tombolo_check_settle:\n"
        ".cfi_startproc\n"
        "pushq %rdx\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_offset 16, -16\n"
        "movq %r10, %rcx\n"
        "call tombolo_check_access\n"
        "popq %rdx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size tombolo_check_settle, .-tombolo_check_settle\n"
        ".popsection\n");

/* As tombolo_check_settle, for 8 bytes: words of this thread settle most accesses. in kind: 0 or 1;
 * word: where struct chk_mine has these words. */
# define SETTLE(kind, word)                                                        \
  __asm__(".pushsection .text\n"                                                   \
          ".globl tombolo_check_settle_" kind "\n"                                 \
          ".hidden tombolo_check_settle_" kind "\n"                                \
          ".type tombolo_check_settle_" kind ", @function\n"                       \
          "tombolo_check_settle_" kind ":\n"                                       \
          ".cfi_startproc\n"                                                       \
          "cmpb $0, 26(%rsi) # the line may have a run\n"                          \
          "jne tombolo_check_settle\n"                                             \
          "movq tombolo_check_near+48(%rip), %rax\n"                               \
          "testq %rax, %rax\n"                                                     \
          "jz tombolo_check_settle\n"                                              \
          "movq %rdi, %rcx\n"                                                      \
          "subq %fs:(%rax), %rcx\n"                                                \
          "cmpq %fs:8(%rax), %rcx\n"                                               \
          "jae tombolo_check_settle\n"                                             \
          "movq %fs:" word "(%rax), %r8\n"                                         \
          "shrq $3, %rcx\n"                                                        \
          "cmpw $0, (%r8,%rcx,2)\n"                                                \
          "js 1f\n"                                                                \
          "jne tombolo_check_settle\n"                                             \
          "movl %edx, %r9d\n"                                                      \
          "shrl $2, %r9d\n"                                                        \
          "andl $0x1fff, %r9d\n"                                                   \
          "cmpq %rdx, -0x8052000(%r8,%r9,8) # the line has its first place\n"      \
          "jne tombolo_check_settle\n"                                             \
          "orl $0x8000, %r9d\n"                                                    \
          "movw %r9w, (%r8,%rcx,2)\n"                                              \
          "shrq $6, %rcx\n"                                                        \
          "movb $1, -0x8000000(%r8,%rcx)\n"                                        \
          "shrq $9, %rcx\n"                                                        \
          "movb $1, -0x8040000(%r8,%rcx)\n"                                        \
          "1: ret\n"                                                               \
          ".cfi_endproc\n"                                                         \
          ".size tombolo_check_settle_" kind ", .-tombolo_check_settle_" kind "\n" \
          ".popsection\n")
SETTLE("0", "32");
SETTLE("1", "40");

__attribute__((visibility("hidden"))) void tombolo_check_access(const void *at, struct chk_run *run,
                                                                const void *pc, uintptr_t *next);

/* Of the C library, if it says so. */
extern char __libc_single_threaded __attribute__((weak));

/* Keeps runs when no checker is loaded: a program that was compiled with `--check` is faster with
 * them. Not with several threads, which would write to the same runs. */
static void run_alone(struct chk_run *run, uintptr_t *next, uintptr_t addr) {
  const size_t bytes = run->how & ~CHK_RUN_STORES;
  if (*next - run->first >= CHK_RUN_LEAST * bytes)
    run->tries = CHK_RUN_TRIES;
  else
    run->tries--;
  if (!&__libc_single_threaded || !__libc_single_threaded) run->tries = 0;
  run->first = addr;
  *next = run->tries ? addr + bytes : 0;
}

/* As settles of struct chk_watch, once that has said so. */
static inline int settles(uintptr_t addr, size_t bytes, int kind, const void *pc) {
  const char *self;
  __asm__("movq %%fs:0, %0" : "=r"(self));
  const struct chk_mine *const mine = (const void *)(self + tombolo_check_near.mine);
  return tombolo_check_near.mine && chk_settled(mine, addr, bytes, kind, pc);
}

/* As tombolo_check_access, where threads may race with each other. */
static void access_of_each(const struct chk_place *p, int kind) {
  const struct chk_watch *const w = chk_watched;
  const size_t bytes = p->run->how & ~CHK_RUN_STORES;
  if (!chk_is_watched((const void *)p->addr)) return;
  if ((p->run->tries || !tombolo_check_copy) &&
      w->run_in_copy(&tombolo_check_near, &tombolo_check_copy, p))
    return;
  if (!settles(p->addr, bytes, kind, p->pc) && !w->settles(p->addr, bytes, kind, p->pc))
    chk_tell_any((const void *)p->addr, bytes, kind, p->pc);
}

void tombolo_check_access(const void *at, struct chk_run *run, const void *pc, uintptr_t *next) {
  const struct chk_watch *const w = chk_watched;
  const int kind = run->how & CHK_RUN_STORES ? CHK_STORE : CHK_LOAD;
  const struct chk_place place = {run, next, (uintptr_t)at, pc};
  if (w->threads) {
    access_of_each(&place, kind);
    return;
  }
  const int own = chk_in(&w->own, (uintptr_t)at);
  if (run->tries && (own || !w->others.bytes)) {
    if (w->run)
      w->run(&place);
    else
      run_alone(run, next, (uintptr_t)at);
    return;
  }
  chk_tell_any(at, run->how & ~CHK_RUN_STORES, kind, pc);
  if (run->word || !own) return;
  const uint32_t line = chk_line_known(w->seen[kind], pc);
  if (line) run->word = (uint16_t)(CHK_WHOLE | line);
}
#endif

#define WITH_PC(bytes)                                           \
 void __tsan_read##bytes##_pc(const void *at, const void *pc);   \
 void __tsan_read##bytes##_pc(const void *at, const void *pc) {  \
  chk_tell_any(at, bytes, CHK_LOAD, pc);                         \
 }                                                               \
 void __tsan_write##bytes##_pc(const void *at, const void *pc);  \
 void __tsan_write##bytes##_pc(const void *at, const void *pc) { \
  chk_tell_any(at, bytes, CHK_STORE, pc);                        \
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
