/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command for which named features of the kernel are absent.
 *
 * Usage: refuse FEATURE[,FEATURE]... COMMAND [ARGUMENT]...
 * Owns: the table of features. Called by tests/multi/absent.py. Calls: the kernel's filter of
 * system calls. A system call that is absent fails with ENOSYS, as on a kernel that never had it;
 * an option of sockets with ENOPROTOOPT. The filter is inherited, so what the command starts lacks
 * them too.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
# define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
# define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv)
# define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
# error "name this processor's AUDIT_ARCH"
#endif

#define UDP_GRO_OPTION 104u
#define STEPS_MAX      64u

static const struct feature {
  const char *name;
  long number;
} features[] = {
    {"memfd", SYS_memfd_create},
    {"pidfd", SYS_pidfd_open},
    {"pidfd_signal", SYS_pidfd_send_signal},
    {"pidfd_getfd", SYS_pidfd_getfd},
    {"membarrier", SYS_membarrier},
    {"close_range", SYS_close_range},
    {"process_vm", SYS_process_vm_readv},
    {"fallocate", SYS_fallocate},
    {"eventfd", SYS_eventfd2},   /* which the library needs */
    {"signalfd", SYS_signalfd4}, /* the same */
    {"udp_gro", SYS_setsockopt},
};

static struct sock_filter step[STEPS_MAX];
static unsigned steps;

static void add(uint16_t code, uint32_t value, uint8_t yes, uint8_t no) {
  if (steps == STEPS_MAX) {
    fprintf(stderr, "refuse: too many features; at most %u steps of a filter\n", STEPS_MAX);
    exit(2);
  }
  step[steps++] = (struct sock_filter)BPF_JUMP(code, value, yes, no);
}

static void load(size_t offset) {
  add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void refuse(const struct feature *f) {
  if (f->number != SYS_setsockopt) {
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)f->number, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
    return;
  }
  add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)f->number, 0, 5);
  load(offsetof(struct seccomp_data, args[1]));
  add(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3);
  load(offsetof(struct seccomp_data, args[2]));
  add(BPF_JMP | BPF_JEQ | BPF_K, UDP_GRO_OPTION, 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOPROTOOPT, 0, 0);
  load(offsetof(struct seccomp_data, nr));
}

static void refuse_named(const char *name) {
  const size_t count = sizeof features / sizeof *features;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(features[i].name, name) != 0) continue;
    refuse(&features[i]);
    return;
  }
  fprintf(stderr, "refuse: there is no feature %s; there are", name);
  for (size_t i = 0; i < count; i++) fprintf(stderr, " %s", features[i].name);
  fprintf(stderr, "\n");
  exit(2);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: refuse FEATURE[,FEATURE]... COMMAND [ARGUMENT]...\n");
    return 2;
  }
  load(offsetof(struct seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  load(offsetof(struct seccomp_data, nr));
  for (char *save, *name = strtok_r(argv[1], ",", &save); name; name = strtok_r(NULL, ",", &save))
    refuse_named(name);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  const struct sock_fprog program = {.len = (unsigned short)steps, .filter = step};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    fprintf(stderr, "refuse: the kernel takes no filter: %s\n", strerror(errno));
    return 77;
  }
  execvp(argv[2], argv + 2);
  fprintf(stderr, "refuse: %s: %s\n", argv[2], strerror(errno));
  return 127;
}
