/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor`: interfaces, conduits and the libraries that they load, ssh, other hosts.
 *
 * Owns: nothing. Called by doctor.c. Calls: tools/info for interfaces and conduits, the loader,
 * doctor_programs.c to run ssh. Invariants: only hosts that the user names are asked, by the same
 * command as `tombolo run` (TOMBOLO_SSH, TOMBOLO_SSH_OPTIONS, TOMBOLO_SSH_REMOTE_PATH).
 */
#include "doctor/doctor.h"
#include "tool.h"

#include "base/config.h"
#include "boot/launch/spawn.h"
#include "info/info.h"
#include "os/os.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { NAMES_BYTES = 512, WORDS_MAX = 64, MTU_LEAST = 1500, NOT_FOUND = 127, SSH_FAILED = 255 };

/* ---- interfaces, conduits, libraries */

void doctor_judge_interfaces(struct doctor *d, const json_t *interfaces) {
  char used[NAMES_BYTES] = "";
  size_t i, end = 0;
  bool small = false;
  json_t *item;
  json_array_foreach(interfaces, i, item) {
    if (!json_is_true(json_object_get(item, "available"))) continue;
    const int mtu = (int)json_integer_value(json_object_get(item, "mtu_bytes"));
    const int n = snprintf(used + end, sizeof used - end, "%s%s (MTU %d)", end ? ", " : "",
                           json_string_value(json_object_get(item, "name")), mtu);
    end = TMB_MIN(end + (size_t)n, sizeof used - 1);
    small = small || mtu < MTU_LEAST;
  }
  if (end == 0)
    doctor_add(d, d->hosts ? DOCTOR_ERROR : DOCTOR_WARNING, "interfaces",
               "Set one up ('tombolo info --network' says why each is not used); jobs on this "
               "machine alone need none.",
               "none leads to other hosts");
  else if (small)
    doctor_add(d, DOCTOR_WARNING, "interfaces",
               "Raise the MTU on all hosts and switches ('ip link set NAME mtu 9000'), if the "
               "network carries it: long transfers are slower.",
               "%s", used);
  else
    doctor_add(d, DOCTOR_OK, "interfaces", NULL, "%s", used);
}

static void check_conduits(struct doctor *d, const json_t *interfaces) {
  size_t i;
  json_t *item, *conduits = info_conduits(interfaces);
  char there[NAMES_BYTES] = "";
  size_t end = 0;
  bool udp = false;
  json_array_foreach(conduits, i, item) {
    const char *name = json_string_value(json_object_get(item, "name"));
    if (!json_is_true(json_object_get(item, "available"))) continue;
    udp = udp || strcmp(name, "udp") == 0;
    const int n = snprintf(there + end, sizeof there - end, "%s%s", end ? ", " : "", name);
    end = TMB_MIN(end + (size_t)n, sizeof there - 1);
  }
  json_decref(conduits);
  if (udp)
    doctor_add(d, DOCTOR_OK, "conduits", NULL, "%s", there);
  else
    doctor_add(d, d->hosts ? DOCTOR_ERROR : DOCTOR_WARNING, "conduits",
               "'tombolo info --network' says why; install the plug-ins beside the library.",
               "%s; udp is not available", there);
}

/* A library that a conduit loads when it is used. in names: [3], the first that loads will do. */
struct library {
  const char *check, *names[3], *use, *remedy;
};

static void check_library(struct doctor *d, const struct library *l) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(l->names) && l->names[i]; i++) {
    void *handle = dlopen(l->names[i], RTLD_LAZY | RTLD_LOCAL);
    if (!handle) continue;
    dlclose(handle);
    doctor_add(d, DOCTOR_OK, l->check, NULL, "%s", l->names[i]);
    return;
  }
  doctor_add(d, DOCTOR_WARNING, l->check, l->remedy, "not found; %s needs it", l->use);
}

static void check_libraries(struct doctor *d) {
  static const struct library libraries[] = {
      {"libfabric",
       {"libfabric.so.1", "libfabric.so", NULL},
       "conduit ofi",
       "If you want that conduit: install libfabric1."},
      {"libsodium",
       {"libsodium.so.23", "libsodium.so.26", "libsodium.so"},
       "TOMBOLO_UDP_AUTH=encrypt",
       "If you want encryption: install libsodium23."},
  };
  for (size_t i = 0; i < TMB_ARRAY_LEN(libraries); i++) check_library(d, &libraries[i]);
  const bool mpi = doctor_program_exists("mpirun") || doctor_program_exists("mpiexec");
  if (mpi)
    doctor_add(d, DOCTOR_OK, "MPI", NULL, "its launcher is there");
  else
    doctor_add(d, DOCTOR_WARNING, "MPI", "If you want that conduit: install openmpi-bin or mpich.",
               "neither mpirun nor mpiexec is in PATH; conduit mpi needs one");
}

/* ---- ssh and other hosts */

static const char *ssh_command(void) {
  return tmb_spawn_setting(TMB_CFG_SSH, "SSH_CMD");
}

static void check_ssh(struct doctor *d) {
  const char *command = ssh_command();
  if (doctor_program_exists(command))
    doctor_add(d, DOCTOR_OK, "ssh", NULL, "%s", command);
  else
    doctor_add(d, d->hosts ? DOCTOR_ERROR : DOCTOR_WARNING, "ssh",
               "Install openssh-client, or name another command by TOMBOLO_SSH; jobs on this "
               "machine alone need none.",
               "there is no program '%s' in PATH", command);
}

void doctor_network(struct doctor *d) {
  json_t *interfaces = info_interfaces();
  doctor_judge_interfaces(d, interfaces);
  check_conduits(d, interfaces);
  json_decref(interfaces);
  check_libraries(d);
  check_ssh(d);
}

/* Adds the words of a text, which it cuts. */
static size_t add_words(char **words, size_t count, char *text) {
  char *save = NULL;
  for (char *w = strtok_r(text, " \t", &save); w && count < WORDS_MAX - 4;
       w = strtok_r(NULL, " \t", &save))
    words[count++] = w;
  return count;
}

/* Starts ssh to ask a host for its version. */
static void ask_host(struct doctor_program *p, const char *host) {
  char command[1024], options[1024], ask[1200], timeout[64];
  char *words[WORDS_MAX];
  const char *more = tmb_spawn_setting(TMB_CFG_SSH_OPTIONS, "SSH_OPTIONS");
  const char *folder = tmb_spawn_setting(TMB_CFG_SSH_REMOTE_PATH, "SSH_REMOTE_PATH");
  snprintf(command, sizeof command, "%s", ssh_command());
  snprintf(options, sizeof options, "%s", more ? more : "");
  if (folder)
    snprintf(ask, sizeof ask, "'%s/tombolo' --version", folder);
  else
    snprintf(ask, sizeof ask, "'%s' --version", tmb_os_exe_name());
  size_t count = add_words(words, 0, command);
  const size_t length = count ? strlen(words[0]) : 0;
  if (length >= 3 && strcmp(words[0] + length - 3, "ssh") == 0 &&
      (length == 3 || words[0][length - 4] == '/')) {
    snprintf(timeout, sizeof timeout, "-T -x -o BatchMode=yes -o ConnectTimeout=%d",
             (int)(tmb_cfg_dbl(TMB_CFG_SSH_TIMEOUT) + 0.999));
    count = add_words(words, count, timeout);
  }
  count = add_words(words, count, options);
  words[count++] = (char *)(uintptr_t)host;
  words[count++] = ask;
  words[count] = NULL;
  doctor_program_start(p, words);
}

/* The last line of a text: what a host says before is a greeting of its shell. */
static const char *last_line(const char *text) {
  const char *line = strrchr(text, '\n');
  return line ? line + 1 : text;
}

/* Whether two texts of --version name the same version and revision; compilers may differ. */
static bool same_version(const char *a, const char *b) {
  const size_t bytes = strcspn(a, ",");
  return bytes == strcspn(b, ",") && memcmp(a, b, bytes) == 0;
}

static void judge_host(struct doctor *d, const char *host, const struct doctor_program *p) {
  char remedy[512];
  const char *line = last_line(p->text);
  const int code = p->status >= 0 && WIFEXITED(p->status) ? WEXITSTATUS(p->status) : -1;
  if (code == 0 && same_version(line, tool_version())) {
    doctor_add(d, DOCTOR_OK, "host", NULL, "%s: ssh works without a password; %s", host, line);
  } else if (code == 0) {
    doctor_add(d, DOCTOR_ERROR, "host", "Install the same version on all hosts.",
               "%s has \"%s\", this host has \"%s\"", host, line, tool_version());
  } else if (p->status < 0) {
    doctor_add(d, DOCTOR_ERROR, "host",
               "Check that the host is up, and whether a firewall drops its packets in one "
               "direction; "
               "TOMBOLO_SSH_TIMEOUT sets the time.",
               "%s does not answer", host);
  } else if (code == SSH_FAILED) {
    snprintf(remedy, sizeof remedy,
             "Make 'ssh %s true' work without a question: ssh-copy-id, an agent, known_hosts.",
             host);
    doctor_add(d, DOCTOR_ERROR, "host", remedy, "%s: ssh fails: %s", host, line);
  } else if (code == NOT_FOUND) {
    doctor_add(d, DOCTOR_ERROR, "host",
               "Install tombolo there in the same folder, or name its folder by "
               "TOMBOLO_SSH_REMOTE_PATH.",
               "%s: tombolo is not there: %s", host, line);
  } else {
    doctor_add(d, DOCTOR_ERROR, "host", "Run 'tombolo doctor' on that host.",
               "%s: 'tombolo --version' there ends with code %d: %s", host, code, line);
  }
}

void doctor_hosts(struct doctor *d, const struct host_list *list) {
  if (list->count == 0 || !doctor_program_exists(ssh_command())) return;
  struct doctor_program *programs = calloc(list->count, sizeof *programs);
  if (!programs) {
    doctor_add(d, DOCTOR_ERROR, "hosts", "Ask for fewer hosts at once.", "out of memory for %u",
               list->count);
    return;
  }
  const double wait_s = tmb_cfg_dbl(TMB_CFG_SSH_TIMEOUT);
  const uint64_t deadline = tmb_os_now_ns() + (uint64_t)((wait_s + 1.0) * 1e9);
  for (uint32_t h = 0; h < list->count; h++) ask_host(&programs[h], list->entry[h].name);
  for (uint32_t h = 0; h < list->count; h++) {
    doctor_program_finish(&programs[h], deadline);
    judge_host(d, list->entry[h].name, &programs[h]);
  }
  free(programs);
}
