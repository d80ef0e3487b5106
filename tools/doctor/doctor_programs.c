/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor`: compilers, and running a program with a time limit.
 *
 * Owns: nothing. Called by doctor.c and doctor_network.c. Calls: os, fork, execvp.
 * Invariants: a program that does not end in time is killed with its process group, and waited for.
 */
#include "doctor/doctor.h"
#include "tool.h"

#include "base/config.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, GFORTRAN_FIRST = 11, GFORTRAN_LAST = 16, FLANG_FIRST = 22 };

#define COMPILER_NS UINT64_C(10000000000)

/* In a fork: become the program. */
_Noreturn static void become(char *const argv[], const int ends[2]) {
  const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  setpgid(0, 0);
  if (empty >= 0) dup2(empty, STDIN_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
  execvp(argv[0], argv);
  dprintf(STDERR_FILENO, "%s: %s", argv[0], strerror(errno));
  _exit(127);
}

void doctor_program_start(struct doctor_program *p, char *const argv[]) {
  int ends[2];
  *p = (struct doctor_program){.pid = -1, .fd = -1, .status = -1};
  fflush(stdout);
  if (pipe(ends) != 0) return;
  (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC); /* of programs that are started next */
  (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  p->pid = fork();
  if (p->pid == 0) become(argv, ends);
  close(ends[1]);
  p->fd = ends[0];
  if (p->pid > 0) setpgid(p->pid, p->pid);
}

/* Reads a part of its output. Returns false at its end, or if the time is over. */
static bool read_part(struct doctor_program *p, uint64_t deadline_ns, bool *late) {
  char rest[256];
  const uint64_t now = tmb_os_now_ns();
  struct pollfd wait = {.fd = p->fd, .events = POLLIN};
  *late = now >= deadline_ns;
  const int ms = *late ? 0 : (int)((deadline_ns - now) / 1000000 + 1);
  const int ready = poll(&wait, 1, ms);
  if (ready < 0 && errno == EINTR) return true;
  if (ready <= 0) {
    *late = true;
    return false;
  }
  *late = false;
  const size_t room = sizeof p->text - 1 - p->text_bytes;
  const ssize_t n = read(p->fd, room ? p->text + p->text_bytes : rest, room ? room : sizeof rest);
  if (n <= 0) return n < 0 && errno == EINTR;
  if (room) p->text_bytes += (size_t)n;
  return true;
}

void doctor_program_finish(struct doctor_program *p, uint64_t deadline_ns) {
  bool late = false;
  if (p->pid < 0) {
    if (p->fd >= 0) close(p->fd);
    snprintf(p->text, sizeof p->text, "no process can be started");
    return;
  }
  while (read_part(p, deadline_ns, &late)) continue;
  if (late) kill(-p->pid, SIGKILL);
  if (waitpid(p->pid, &p->status, 0) != p->pid || late) p->status = -1;
  close(p->fd);
  while (p->text_bytes > 0 && strchr(" \t\r\n", p->text[p->text_bytes - 1])) p->text_bytes--;
  p->text[p->text_bytes] = '\0';
}

/* Asks a compiler something. out p: its text is "" if it is not there or fails. */
static void ask_compiler(struct doctor_program *p, const char *command, const char *option) {
  char program[PATH_BYTES], argument[64];
  char *argv[] = {program, argument, NULL};
  *p = (struct doctor_program){.pid = -1};
  if (!tool_program_exists(command)) return;
  snprintf(program, sizeof program, "%.*s", (int)strcspn(command, " \t"), command);
  snprintf(argument, sizeof argument, "%s", option);
  doctor_program_start(p, argv);
  doctor_program_finish(p, tmb_os_now_ns() + COMPILER_NS);
  if (p->status != 0) p->text[0] = '\0';
}

static void judge_flang(struct doctor *d, const char *command, const char *version, long major) {
  if (major < FLANG_FIRST)
    doctor_add(d, DOCTOR_WARNING, "flang",
               "If you want coarray Fortran by flang: install flang 22 or newer; TOMBOLO_FC names "
               "one.",
               "'%s' %s", command, *version ? version : "is not there");
  else
    doctor_add(d, DOCTOR_OK, "flang", NULL, "%s %s, known to PRIF", command, version);
}

/* in version: as the compiler prints, "" if it is not there. */
static void doctor_judge_gfortran(struct doctor *d, const char *command, const char *version) {
  const long major = strtol(version, NULL, 10);
  const char *slash = strrchr(command, '/');
  if (strstr(slash ? slash : command, "flang"))
    judge_flang(d, command, version, major);
  else if (!*version)
    doctor_add(d, DOCTOR_WARNING, "gfortran",
               "If you want coarray Fortran: install gfortran, or name one by TOMBOLO_FC.",
               "'%s' is not there", command);
  else if (major < GFORTRAN_FIRST || major > GFORTRAN_LAST)
    doctor_add(d, DOCTOR_WARNING, "gfortran",
               "Use gfortran 11 to 16 for coarray Fortran; TOMBOLO_FC names one.",
               "%s is version %s, which coarrays are not tested with", command, version);
  else
    doctor_add(d, DOCTOR_OK, "gfortran", NULL, "%s %s, known to coarrays", command, version);
}

void doctor_compilers(struct doctor *d) {
  struct doctor_program p;
  ask_compiler(&p, "cc", "--version");
  p.text[strcspn(p.text, "\n")] = '\0';
  if (*p.text)
    doctor_add(d, DOCTOR_OK, "C compiler", NULL, "%s", p.text);
  else
    doctor_add(d, DOCTOR_WARNING, "C compiler",
               "If you compile here: install gcc or clang; programs run without.",
               "'cc' is missing or does not print its version");
  const char *command = tmb_cfg_str(TMB_CFG_FC);
  ask_compiler(&p, command, "-dumpversion");
  p.text[strcspn(p.text, "\n")] = '\0';
  doctor_judge_gfortran(d, command, p.text);
}
