/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of `tombolo doctor`: every check is made to fail once, by limits, refused system
 * calls, a PATH without programs, fake programs, or facts that are given.
 *
 * Owns: a folder of fake programs, removed at the end. Run by ctest. Calls: tool_doctor_main in
 * child processes. Invariants: no network is used: ssh is a script here.
 */

#include "base/capture_test.h"
#include "base/config.h"
#include "base/unit_test.h"
#include "doctor/doctor.h"
#include "tool.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct capture cap;
static char folder[] = "/tmp/doctor-test-XXXXXX";

struct call {
  const char *argv[3]; /* ends with NULL */
  const char *name, *value;
  int resource; /* RLIMIT_* with a limit, if has_limit */
  bool has_limit;
  rlim_t limit;
  int refused; /* a system call that fails; 0: none */
};

/* From now on a system call fails with EPERM. */
static void refuse(int number) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {TMB_ARRAY_LEN(filter), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(77);
}

static void do_call(void *arg) {
  struct call *call = arg;
  if (call->name) tmb_env_set(call->name, call->value);
  if (call->has_limit) {
    const struct rlimit limit = {call->limit, call->limit};
    if (setrlimit((__rlimit_resource_t)call->resource, &limit) != 0) _exit(78);
  }
  if (call->refused) refuse(call->refused);
  char *argv[5] = {(char *)(uintptr_t) "tombolo doctor"};
  int argc = 1;
  for (; argc < 4 && call->argv[argc - 1]; argc++)
    argv[argc] = (char *)(uintptr_t)call->argv[argc - 1];
  const int rc = tool_doctor_main(argc, argv);
  fflush(stdout);
  _exit(rc);
}

/* Runs the command, fails unless it exits with `code`. */
static void run(struct call call, int code) {
  capture_exit(&cap, do_call, &call, code);
}

/* Fails unless there is a line with this state and name that also holds `part`. */
static void expect(const char *state, const char *name, const char *part) {
  char start[64];
  snprintf(start, sizeof start, "%-8s %-17s ", state, name);
  for (char *line = cap.text; line && *line;) {
    char *end = strchr(line, '\n');
    if (end) *end = '\0';
    const bool found = strncmp(line, start, strlen(start)) == 0 && strstr(line, part);
    if (end) *end = '\n';
    if (found) return;
    line = end ? end + 1 : NULL;
  }
  fail_msg("no line \"%s... %s\" in: %s", start, part, cap.text);
}

/* Writes a fake program into the folder. */
static void write_program(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "#!/bin/sh\n%s\n", text);
  fclose(file);
  assert_int_equal(chmod(path, 0700), 0);
}

TEST(limits_are_checked) {
  run((struct call){.has_limit = true, .resource = RLIMIT_NOFILE, .limit = 40}, 1);
  expect("error", "open files", "at most 40 in a process. Raise it: ulimit -n");
  run((struct call){.has_limit = true, .resource = RLIMIT_FSIZE, .limit = 100000}, 1);
  expect("error", "segments", "RLIMIT_FSIZE bounds memory. Raise the limit (ulimit -f");
  run((struct call){.has_limit = true, .resource = RLIMIT_FSIZE, .limit = 40 << 20}, 0);
  expect("warning", "segments", "RLIMIT_FSIZE bounds memory. Raise the limit (ulimit -f");
  run((struct call){.has_limit = true, .resource = RLIMIT_NOFILE, .limit = 512}, 0);
  expect("warning", "open files", "at most 512");
  run((struct call){.has_limit = true, .resource = RLIMIT_MEMLOCK, .limit = 65536}, 0);
  expect("warning", "locked memory", "at most 64.0 KB");
  run((struct call){.name = "GASNET_MAX_SEGSIZE",
                    .value = "2GB",
                    .has_limit = true,
                    .resource = RLIMIT_FSIZE,
                    .limit = 1 << 20},
      1);
  expect("error", "segments", "cannot be had");
}

TEST(refused_calls_are_found) {
  run((struct call){.refused = SYS_memfd_create, .name = "GASNET_MAX_SEGSIZE", .value = "32M"}, 0);
  expect("warning", "shared memory", "memfd_create: Operation not permitted");
  run((struct call){.refused = SYS_process_vm_readv}, 0);
  expect("warning", "cross-memory read", "process_vm_readv is refused");
}

TEST(missing_programs_are_found) {
  run((struct call){.name = "PATH", .value = "/no/such/folder"}, 0);
  expect("warning", "ssh", "no program 'ssh'");
  expect("warning", "C compiler", "'cc' is missing");
  expect("warning", "gfortran", "'gfortran' is not there");
  expect("warning", "MPI", "neither mpirun nor mpiexec");
  run((struct call){.argv = {"--hosts", "a"}, .name = "PATH", .value = "/no/such/folder"}, 1);
  expect("error", "ssh", "TOMBOLO_SSH");
}

TEST(compilers_print_their_version) {
  write_program("cc", "echo 'cc of the test 1.2'; echo more");
  write_program("gfortran", "echo 9.4.0");
  run((struct call){.name = "PATH", .value = folder}, 0);
  expect("ok", "C compiler", "cc of the test 1.2");
  expect("warning", "gfortran", "9.4.0");
  write_program("cc", "exit 3");
  write_program("gfortran", "echo 13");
  run((struct call){.name = "PATH", .value = folder}, 0);
  expect("warning", "C compiler", "'cc' is missing");
  expect("ok", "gfortran", "gfortran 13, known to coarrays");
}

TEST(hosts_are_asked) {
  static const char report[] =
      "{\n\"checks\": [{\"name\": \"open files\", \"state\": \"error\", \"found\": \"at most 9\", "
      "\"remedy\": \"Raise it.\"}, {\"name\": \"conduits\", \"state\": \"ok\", \"found\": "
      "\"smp\"}, "
      "{\"name\": \"gfortran\", \"state\": \"error\", \"found\": \"none\"}, 7]}";
  char remote[256], text[2048];
  snprintf(remote, sizeof remote, "%s/rsh -q", folder);
  snprintf(text, sizeof text,
           "[ \"$1\" = -q ] || exit 9\n"
           "case $2 in\n"
           "same) echo Welcome; echo '%s'; echo '%s' ;;\n"
           "bare) echo '%s' ;;\n"
           "old) echo 'tombolo 0.0.1 (abc, GNU 1)' ;;\n"
           "deny) echo 'Permission denied (publickey).' >&2; exit 255 ;;\n"
           "none) echo 'sh: not found' >&2; exit 127 ;;\n"
           "lib) echo 'x: error while loading shared libraries: liby.so.4: no' >&2; exit 127 ;;\n"
           "mute) sleep 50 ;;\n"
           "broken) exit 4 ;;\n"
           "esac",
           tool_version(), report, tool_version());
  write_program("rsh", text);
  tmb_env_set("TOMBOLO_SSH_TIMEOUT", "0.2");
  run((struct call){.argv = {"--hosts", "localhost,same,bare,old,deny,none,lib,broken,mute"},
                    .name = "TOMBOLO_SSH",
                    .value = remote},
      1);
  tmb_env_unset("TOMBOLO_SSH_TIMEOUT");
  expect("ok", "ssh", "rsh");
  expect("ok", "host", "localhost: this host, which needs no ssh");
  expect("ok", "host", "same: ssh works without a password");
  expect("error", "open files", "same: at most 9. Raise it.");
  expect("warning", "conduits", "same has smp; this host has");
  assert_null(strstr(cap.text, "same: none"));
  expect("warning", "host", "bare: ssh works without a password");
  expect("error", "host", "old has \"tombolo 0.0.1 (abc, GNU 1)\"");
  expect("error", "host", "deny: ssh fails: Permission denied (publickey).. Make 'ssh deny true'");
  expect("error", "host", "none: tombolo is not there");
  expect("error", "host", "lib: tombolo misses a library: x: error");
  expect("error", "host", "broken: 'tombolo --version' there ends with code 4");
  expect("error", "host", "mute does not answer");
}

/* The state of the only check that a judge has written down, as a word. */
static const char *judged(struct doctor *d) {
  static char word[16];
  assert_int_equal(json_array_size(d->checks), 1);
  const json_t *check = json_array_get(d->checks, 0);
  snprintf(word, sizeof word, "%s", json_string_value(json_object_get(check, "state")));
  assert_int_equal(json_is_null(json_object_get(check, "remedy")), strcmp(word, "ok") == 0);
  json_array_clear(d->checks);
  return word;
}

TEST(facts_are_judged) {
  struct doctor d = {.checks = json_array()};
  doctor_judge_processors(&d, 4, 4, 0);
  assert_string_equal(judged(&d), "ok");
  doctor_judge_processors(&d, 2, 4, 0);
  assert_string_equal(judged(&d), "warning");
  doctor_judge_processors(&d, 4, 4, 1.5);
  assert_string_equal(judged(&d), "warning");
  doctor_judge_processes(&d, UINT64_MAX, NULL, 4);
  assert_string_equal(judged(&d), "ok");
  doctor_judge_processes(&d, 100, NULL, 4);
  assert_string_equal(judged(&d), "warning");
  doctor_judge_processes(&d, 5, "/sys/fs/cgroup/a", 4);
  assert_string_equal(judged(&d), "error");
  doctor_judge_reading(&d, true, 3);
  assert_string_equal(judged(&d), "ok");
  doctor_judge_reading(&d, false, 3);
  assert_string_equal(judged(&d), "warning");
  doctor_judge_huge_pages(&d, "advise", true);
  assert_string_equal(judged(&d), "ok");
  doctor_judge_huge_pages(&d, "never", false);
  assert_string_equal(judged(&d), "ok");
  doctor_judge_huge_pages(&d, "deny", true);
  assert_string_equal(judged(&d), "warning");
  doctor_judge_clock(&d, "rdtsc", 10);
  assert_string_equal(judged(&d), "ok");
  doctor_judge_clock(&d, "clock_gettime", 900);
  assert_string_equal(judged(&d), "warning");
  json_decref(d.checks);
}

TEST(interfaces_are_judged) {
  struct doctor d = {.checks = json_array()};
  json_t *none = json_array(),
         *one = json_pack("[{s:s, s:b, s:i}]", "name", "eth0", "available", 1, "mtu_bytes", 9000);
  doctor_judge_interfaces(&d, one);
  assert_string_equal(judged(&d), "ok");
  json_object_set_new(json_array_get(one, 0), "mtu_bytes", json_integer(1400));
  doctor_judge_interfaces(&d, one);
  assert_string_equal(judged(&d), "warning");
  doctor_judge_interfaces(&d, none);
  assert_string_equal(judged(&d), "warning");
  d.hosts = true;
  doctor_judge_interfaces(&d, none);
  assert_string_equal(judged(&d), "error");
  json_decref(none);
  json_decref(one);
  json_decref(d.checks);
}

/* Report of another host, compared with this one's. */
TEST(reports_are_compared) {
  struct doctor d = {.checks = json_array(),
                     .mtu = json_pack("{s:i, s:i}", "eth0", 9000, "ib0", 4092)};
  json_t *same = json_pack("{s:{s:i, s:i}}", "mtu_bytes", "eth0", 9000, "eth7", 100),
         *other = json_pack("{s:{s:i}}", "mtu_bytes", "eth0", 1500),
         *named = json_pack("{s:{s:i}}", "mtu_bytes", "ens1", 1500),
         *slow = json_pack("{s:[{s:s, s:s, s:s, s:s}]}", "checks", "name", "clock", "state",
                           "warning", "found", "slow", "remedy", "Mend it."),
         *odd = json_pack("{s:[i, {s:i}], s:[]}", "checks", 3, "name", 4, "mtu_bytes");
  doctor_judge_report(&d, "h", same);
  doctor_judge_report(&d, "h", odd);
  doctor_judge_report(&d, "h", NULL);
  assert_int_equal(json_array_size(d.checks), 0);
  doctor_judge_report(&d, "h", other);
  const char *remedy = json_string_value(json_object_get(json_array_get(d.checks, 0), "remedy"));
  assert_non_null(strstr(remedy, "'ip link set eth0 mtu 1500' on this host"));
  assert_string_equal(judged(&d), "warning");
  doctor_judge_report(&d, "h", named);
  assert_string_equal(judged(&d), "warning");
  doctor_judge_report(&d, "h", slow); /* this host has no such check that is ok */
  assert_int_equal(json_array_size(d.checks), 0);
  doctor_judge_clock(&d, "rdtsc", 10);
  doctor_judge_report(&d, "h", slow);
  assert_int_equal(json_array_size(d.checks), 2);
  json_array_remove(d.checks, 0);
  assert_string_equal(judged(&d), "warning");
  json_t *const all[] = {same, other, named, slow, odd, d.checks, d.mtu};
  for (size_t i = 0; i < TMB_ARRAY_LEN(all); i++) json_decref(all[i]);
}

TEST(json_is_complete) {
  run((struct call){.argv = {"--json"}, .name = "GASNET_MAX_THREADS", .value = "-7"}, 1);
  json_t *document = json_loads(cap.text, 0, NULL);
  if (!document) fail_msg("not JSON: %s", cap.text);
  const json_t *checks = json_object_get(document, "checks");
  assert_cmp(json_array_size(checks), >=, 15);
  assert_int_equal(json_integer_value(json_object_get(document, "errors")), 1);
  const json_t *first = json_array_get(checks, 0);
  assert_string_equal(json_string_value(json_object_get(first, "name")), "setting");
  assert_string_equal(json_string_value(json_object_get(first, "state")), "error");
  assert_non_null(strstr(json_string_value(json_object_get(first, "found")), "\"-7\""));
  json_decref(document);
}

TEST(wrong_arguments_are_refused) {
  run((struct call){.argv = {"--bogus"}}, TOOL_EXIT_USAGE);
  run((struct call){.argv = {"extra"}}, TOOL_EXIT_USAGE);
  assert_non_null(strstr(cap.text, "\"extra\""));
  run((struct call){.argv = {"--hosts", "-oProxyCommand=x"}}, TOOL_EXIT_USAGE);
  run((struct call){.argv = {"--help"}}, 0);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const names[] = {"cc", "gfortran", "rsh"};
  char path[256];
  for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    (void)unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  return unit_run(make_folder, remove_folder);
}
