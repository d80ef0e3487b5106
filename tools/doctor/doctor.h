/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor`: the list of checks, and the result of one check.
 *
 * Owns: nothing. Included by tools/doctor. Calls: jansson.
 * Invariants: a check adds one entry (doctor_hosts: one for each host), also when it fails; an
 * entry that is not ok has a remedy. A function that judges a fact takes it as an argument, so that
 * tests can give facts that their machine does not have.
 */
#ifndef TMB_TOOLS_DOCTOR_H
#define TMB_TOOLS_DOCTOR_H

#include "base/compiler.h"
#include "hosts/hosts.h"

#include <jansson.h>
#include <stdbool.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_ERROR, DOCTOR_STATES };

struct doctor {
  json_t *checks; /* [{name, state, found, remedy}], remedy null where the state is ok */
  int count[DOCTOR_STATES];
  json_t *mtu; /* bytes, by the names of interfaces that lead to other hosts; NULL: not asked yet */
  bool hosts;  /* other hosts are asked for: the ways to reach them are then needed */
};

/* Write the result of a check down. in remedy: a sentence, NULL where the state is ok. in fmt: the
 * finding. */
void doctor_add(struct doctor *d, enum doctor_state state, const char *name, const char *remedy,
                const char *fmt, ...) TMB_PRINTF(5, 6);

/* ---- doctor_machine.c: memory, limits, processors, clock */
void doctor_machine(struct doctor *d);

/* The parts of it that judge given facts. in processors: usable ones; in quota: of cgroups, 0:
 * none. in scope: of Yama, -1: the kernel has none; in reads: a process could read another's
 * memory. in overhead_ns: of one reading. in soft, hard: RLIM_INFINITY is UINT64_MAX. */
void doctor_judge_processors(struct doctor *d, int processors, int online, double quota);
void doctor_judge_reading(struct doctor *d, bool reads, int scope);
/* in choice: the one of the kernel for shared memory; wanted: by the user. */
void doctor_judge_huge_pages(struct doctor *d, const char *choice, bool wanted);
void doctor_judge_clock(struct doctor *d, const char *source, double overhead_ns);
void doctor_judge_processes(struct doctor *d, uint64_t hard, const char *cgroup, int processors);

/* ---- doctor_network.c: interfaces, conduits and their libraries, ssh */
void doctor_network(struct doctor *d);
void doctor_judge_interfaces(struct doctor *d, const json_t *interfaces);

/* The command that reaches a host, with its options: TOMBOLO_SSH. */
const char *doctor_ssh_command(void);

/* ---- doctor_hosts.c: other hosts
 *
 * Start ssh for every host of the list at once, let `tombolo doctor` run there, and compare: the
 * version, checks that are worse than ours, MTUs. */
void doctor_hosts(struct doctor *d, const struct host_list *list);

/* Judge one host's answer. in report: the JSON that `tombolo doctor --json` prints there. */
void doctor_judge_report(struct doctor *d, const char *host, const json_t *report);

/* ---- doctor_programs.c: compilers, and how programs are run */
void doctor_compilers(struct doctor *d);

struct doctor_program {
  int pid, fd;       /* of its output; -1: it could not be started */
  int status;        /* as of waitpid; -1: killed at the deadline */
  char text[16384];  /* the start of its output and messages; a report in JSON has some 5 KB */
  size_t text_bytes; /* of that */
};

/* Start a program with both of its output streams kept; its input is empty. in argv: [ ], ends with
 * NULL. */
void doctor_program_start(struct doctor_program *p, char *const argv[]);

/* Wait for it until a time of tmb_os_now_ns, then kill it. Its text has no newline at its end. */
void doctor_program_finish(struct doctor_program *p, uint64_t deadline_ns);

#endif
