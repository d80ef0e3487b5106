/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message about an access through a pointer-to-shared that points to nothing.
 *
 * Owns: the handlers of SIGSEGV and SIGBUS. Called by start.c, far.c and the kernel. Calls:
 * context.c, addr2line as a child process, libc. Invariants: accesses test nothing, the address
 * that faulted tells; the handlers only add their message, then the earlier handlers act as they
 * would have; where these signals are left alone (GASNET_NO_CATCH_SIGNAL) there are none.
 */
#include "context.h"
#include "rt.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
  FRAMES_MAX = 16,
  OUTPUT_BYTES = 8192,
  TEXT_BYTES = 600,
  TOOL_MS = 5000,
  STACK_NEAR = 1 << 20
};

static struct sigaction before_segv, before_bus;
static pid_t thread_pid; /* of the thread; a child that it has forked is none */
static void *libc_base;  /* where the C library is mapped: its lines are not the program's */

/* ---- the line of the program */

/* Starts addr2line for one address of an object, its output in a pipe; -1 if it does not start. */
static int start_tool(const char *object, uintptr_t address, pid_t *child) {
  int ends[2];
  char at[32];
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  snprintf(at, sizeof at, "%#lx", (unsigned long)address);
  const char *const argv[] = {"addr2line", "-f", "-i", "-e", object, at, NULL};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int rc = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (rc == 0) return ends[0];
  close(ends[0]);
  return -1;
}

/* Answer of addr2line for an address, as a string; "" if none. */
static void ask_tool(const char *object, uintptr_t address, char *output) {
  pid_t child;
  size_t length = 0;
  output[0] = '\0';
  const int from = start_tool(object, address, &child);
  if (from < 0) return;
  struct pollfd waiter = {from, POLLIN, 0};
  while (length + 1 < OUTPUT_BYTES && poll(&waiter, 1, TOOL_MS) > 0) {
    const ssize_t n = read(from, output + length, OUTPUT_BYTES - 1 - length);
    if (n <= 0) break;
    length += (size_t)n;
  }
  output[length] = '\0';
  close(from);
  kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

/* Whether a line is of this library or of a copy that it has inlined, so that its caller is the one
 * to name. */
static bool is_ours(const char *function, const char *line) {
  return strstr(line, "upc/runtime/") || strncmp(function, "upcr_", 5) == 0 ||
         strncmp(function, "gexx_", 5) == 0 || strncmp(function, "upc_", 4) == 0 ||
         strncmp(function, "bupc_", 5) == 0 || strncmp(function, "rt_", 3) == 0;
}

/* Takes the innermost line of the program from pairs of function and file:line, those of inlined
 * functions first. Returns false if there is none. */
static bool read_place(char *output, char *place, size_t place_bytes) {
  char *next = output, *function, *line;
  while ((function = strsep(&next, "\n")) && (line = strsep(&next, "\n"))) {
    if (strcmp(function, "upcr_user_main") == 0) function += strlen("upcr_user_");
    if (is_ours(function, line) || line[0] == '?' || strstr(line, ":?") || strstr(line, ":0"))
      continue;
    char *const more = strstr(line, " (discriminator");
    if (more) *more = '\0';
    snprintf(place, place_bytes, " at %s, in %s", line, function);
    return true;
  }
  return false;
}

/* A file name of this program for another process. An emulator shows the program to the program
 * only: its link leads there, but /proc/PID/exe is the emulator for others. A link to a removed
 * file leads nowhere; then /proc/PID/exe does. */
static void name_program(char *name, size_t name_bytes) {
  const ssize_t n = readlink("/proc/self/exe", name, name_bytes - 1);
  if (n > 0) name[n] = '\0';
  if (n <= 0 || access(name, R_OK) != 0)
    snprintf(name, name_bytes, "/proc/%ld/exe", (long)getpid());
}

static bool find_place(uintptr_t pc, char *place, size_t place_bytes) {
  static char output[OUTPUT_BYTES], object[4096]; /* the stack of signals is small */
  Dl_info info;
  if (!dladdr((void *)pc, &info) || !info.dli_fbase || !info.dli_fname) return false;
  if (info.dli_fbase == libc_base) return false;
  const uintptr_t base = (uintptr_t)info.dli_fbase;
  const bool is_program = getauxval(AT_PHDR) - base < 4096;
  if (is_program) /* its name may be one of another directory */
    name_program(object, sizeof object);
  else
    snprintf(object, sizeof object, "%s", info.dli_fname);
  const bool fixed = ((const Elf64_Ehdr *)info.dli_fbase)->e_type == ET_EXEC;
  ask_tool(object, fixed ? pc : pc - base, output);
  return read_place(output, place, place_bytes);
}

/* pc: of the instruction that faulted, 0: the caller of this library is meant. */
static void find_caller(uintptr_t pc, char *place, size_t place_bytes) {
  void *frames[FRAMES_MAX];
  const int count = backtrace(frames, FRAMES_MAX);
  int first = 0;
  snprintf(place, place_bytes, " (compile with -g to see the line)");
  if (pc && find_place(pc, place, place_bytes)) return;
  for (int i = 0; pc && i < count; i++)
    if ((uintptr_t)frames[i] == pc) first = i + 1;
  for (int i = first; i < count; i++) /* they are addresses of return */
    if (find_place((uintptr_t)frames[i] - 1, place, place_bytes)) return;
}

void rt_name_place(const void *from, char *place, size_t place_bytes) {
  snprintf(place, place_bytes, " (compile with -g to see the line)");
  (void)find_place((uintptr_t)from - 1, place, place_bytes);
}

/* ---- messages */

/* Describes the fault at this place of a thread's memory, used by the instruction at pc (0: by the
 * caller of this library). */
static void describe(char *text, size_t text_bytes, const char *what, long thread, uint64_t offset,
                     uintptr_t pc) {
  const unsigned long long at = offset, bytes = rt.bytes;
  char place[300];
  find_caller(pc, place, sizeof place);
  if (thread < 0 || thread >= upcr_threads)
    snprintf(
        text, text_bytes,
        "%s through a pointer to shared of thread %ld, which does not exist%s: the pointer was "
        "not set, or was overwritten [TMB-2102]",
        what, thread, place);
  else if (offset < RT_GUARD)
    snprintf(
        text, text_bytes,
        "%s through a null pointer to shared (thread %ld, phase 0, addrfield %#llx)%s: set it, "
        "or see whether an allocation found no room [TMB-2103]",
        what, thread, at, place);
  else
    snprintf(text, text_bytes,
             "%s through a pointer to shared that leaves shared memory (thread %ld, addrfield "
             "%#llx; each thread has %#llx bytes)%s: an index is too large, or the pointer was not "
             "set [TMB-2104]",
             what, thread, at, bytes, place);
}

void rt_check_pointer(upcr_pts_t p, const char *what) {
  char text[TEXT_BYTES];
  const long thread = upcr_threadof(p);
  const uint64_t offset = upcr_addrfield(p);
  const bool is_right =
      thread >= 0 && thread < upcr_threads && offset >= RT_GUARD && offset < rt.bytes;
  if (__builtin_expect(is_right, 1)) return;
  describe(text, sizeof text, what, thread, offset, 0);
  rt_fatal("%s", text);
}

/* ---- the handlers */

static const char *access_of(const void *context) {
  switch (rt_context_access(context)) {
  case RT_ACCESS_READ: return "read";
  case RT_ACCESS_WRITE: return "write";
  default: return "access";
  }
}

/* The number of a thread that does not exist, whose place in the table of addresses was read; -1 if
 * the address is none of the table's. */
static long thread_beyond_table(uintptr_t at) {
#ifdef UPCR_WIDE
  const long i = ((long)at - (long)(uintptr_t)upcr_base) / (long)sizeof *upcr_base;
  if (rt.table_is_whole && (i < 0 || i >= upcr_threads) && i >= -RT_TABLE_HALF && i < RT_TABLE_HALF)
    return (long)((unsigned long)i & UPCR_THREAD_MASK);
#endif
  (void)at;
  return -1;
}

/* The thread in whose memory, or behind it, the address lies; -1: none. */
static long thread_at(uintptr_t at, uint64_t *offset) {
  long thread = -1;
  *offset = RT_ADDR_MAX;
  for (int t = 0; t < upcr_threads; t++) {
    const uintptr_t base = (uintptr_t)rt.mapped[t];
    if (!base || at < base || at - base >= *offset) continue;
    *offset = at - base;
    thread = t;
  }
  return thread;
}

/* Writes the known facts of the fault to text; false if it is not one of shared memory. */
static bool describe_fault(int sig, uintptr_t at, const void *context, char *text,
                           size_t text_bytes) {
  uint64_t offset;
  const uintptr_t pc = rt_context_pc(context), stack = rt_context_stack(context);
  const long beyond = thread_beyond_table(at), thread = thread_at(at, &offset);
  if (beyond >= 0) {
    describe(text, text_bytes, "access", beyond, 0, pc);
    return true;
  }
  if (thread < 0 || (at > stack ? at - stack : stack - at) < STACK_NEAR) return false;
  if (sig == SIGSEGV && (offset < RT_GUARD || offset >= rt.bytes)) {
    describe(text, text_bytes, access_of(context), thread, offset, pc);
    return true;
  }
  if (sig != SIGBUS || offset >= rt.bytes) return false;
  snprintf(
      text, text_bytes,
      "no memory is left for the shared memory of thread %ld (addrfield %#llx): allocate less, "
      "or raise the host's limit on shared memory [TMB-2105]",
      thread, (unsigned long long)offset);
  return true;
}

static void explain(int sig, uintptr_t at, const void *context) {
  char text[TEXT_BYTES], line[TEXT_BYTES + 64];
  if (!describe_fault(sig, at, context, text, sizeof text)) return;
  const int n =
      snprintf(line, sizeof line, "UPC: thread %d of %d: %s\n", upcr_mythread, upcr_threads, text);
  if (write(STDERR_FILENO, line, (size_t)n) < 0) return;
}

/* Passes a signal to its earlier handler or default action. */
static void pass_on(int sig, siginfo_t *info, void *context) {
  const struct sigaction *before = sig == SIGSEGV ? &before_segv : &before_bus;
  if (before->sa_flags & SA_SIGINFO) {
    before->sa_sigaction(sig, info, context);
    return;
  }
  if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
    before->sa_handler(sig);
    return;
  }
  sigaction(sig, before, NULL); /* the instruction faults again */
  if (info->si_code <= 0) raise(sig);
}

static void on_fault(int sig, siginfo_t *info, void *context) {
  static volatile sig_atomic_t is_explaining;
  const int error = errno;
  if (info->si_code > 0 && !is_explaining && getpid() == thread_pid) {
    is_explaining = 1; /* a fault within is passed on */
    explain(sig, (uintptr_t)info->si_addr, context);
    is_explaining = 0;
  }
  errno = error;
  pass_on(sig, info, context);
}

static void add_handler(int sig, struct sigaction *before) {
  const struct sigaction action = {.sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  if (sigaction(sig, NULL, before) != 0) return;
  const bool is_left_alone = !(before->sa_flags & SA_SIGINFO) &&
                             (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN);
  if (!is_left_alone) sigaction(sig, &action, NULL);
}

void rt_fault_start(void) {
  void *frame;
  Dl_info libc;
  if (dladdr(dlsym(RTLD_DEFAULT, "exit"), &libc)) libc_base = libc.dli_fbase;
  thread_pid = getpid();
  backtrace(&frame, 1); /* loads its library now, which a handler may not */
  add_handler(SIGSEGV, &before_segv);
  add_handler(SIGBUS, &before_bus);
}
