/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor --hosts`: the reports of other hosts, beside this one's.
 *
 * Owns: nothing. Called by doctor.c, after the checks of this host. Calls: doctor_programs.c to run
 * ssh. Each host prints its version and the report of its own `tombolo doctor --json`. Invariants:
 * only hosts that the user names are asked, by the command of `tombolo run` (TOMBOLO_SSH,
 * TOMBOLO_SSH_OPTIONS, TOMBOLO_SSH_REMOTE_PATH); their output is data, also when it is nonsense.
 */
#include "doctor/doctor.h"
#include "tool.h"

#include "base/config.h"
#include "boot/launch/spawn.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { WORDS_MAX = 64, NAMES_BYTES = 512, NOT_FOUND = 127, SSH_FAILED = 255 };

/* Time for the checks there, beside that for the connection: they take some 0.1 s. */
#define CHECKS_S 3.0

/* ---- the reports of two hosts */

/* The check of this host with a name, or NULL. */
static const json_t *own_check(const struct doctor *d, const char *name) {
  size_t i;
  json_t *check;
  json_array_foreach(d->checks, i, check) {
    if (strcmp(json_string_value(json_object_get(check, "name")), name) == 0) return check;
  }
  return NULL;
}

/* Whether a check matters only on the host where programs are compiled. */
static bool is_local(const char *name) {
  return strcmp(name, "C compiler") == 0 || strcmp(name, "gfortran") == 0;
}

/* One check of another host: an error counts, a warning only if this host does not have it. */
static void judge_check(struct doctor *d, const char *host, const json_t *check) {
  const char *name = json_string_value(json_object_get(check, "name")),
             *state = json_string_value(json_object_get(check, "state")),
             *found = json_string_value(json_object_get(check, "found")),
             *remedy = json_string_value(json_object_get(check, "remedy"));
  if (!name || !state || !found || is_local(name)) return;
  const json_t *own = own_check(d, name);
  const char *own_state = own ? json_string_value(json_object_get(own, "state")) : "";
  const char *own_found = own ? json_string_value(json_object_get(own, "found")) : "";
  if (!remedy) remedy = "Run 'tombolo doctor' on that host.";
  if (strcmp(state, "error") == 0)
    doctor_add(d, DOCTOR_ERROR, name, remedy, "%s: %s", host, found);
  else if (strcmp(state, "warning") == 0 && strcmp(own_state, "ok") == 0)
    doctor_add(d, DOCTOR_WARNING, name, remedy, "%s: %s; this host: %s", host, found, own_found);
  else if (strcmp(name, "conduits") == 0 && strcmp(found, own_found) != 0)
    doctor_add(d, DOCTOR_WARNING, name,
               "Install the same plug-ins and libraries on all hosts: a job can only use a conduit "
               "that all of its hosts have.",
               "%s has %s; this host has %s", host, found, own_found);
}

/* The largest MTU of a host and its interface; 0 and "" if it has none. */
static json_int_t largest_mtu(const json_t *mtu, const char **name) {
  json_int_t most = 0;
  const char *key;
  json_t *value;
  *name = "";
  json_object_foreach((json_t *)(uintptr_t)mtu, key, value) {
    if (json_integer_value(value) <= most) continue;
    most = json_integer_value(value);
    *name = key;
  }
  return most;
}

static void add_mtu(struct doctor *d, const char *host, const char *there, json_int_t there_bytes,
                    const char *here, json_int_t here_bytes) {
  const bool less = there_bytes < here_bytes;
  char remedy[NAMES_BYTES];
  snprintf(remedy, sizeof remedy,
           "Where both are in one network, give both the same MTU, as 'ip link set %s mtu "
           "%" JSON_INTEGER_FORMAT "' on %s: a host drops packets that are longer than its MTU.",
           less ? here : there, less ? there_bytes : here_bytes, less ? "this host" : host);
  doctor_add(d, DOCTOR_WARNING, "MTU", remedy,
             "%s: %s has %" JSON_INTEGER_FORMAT ", %s of this host %" JSON_INTEGER_FORMAT, host,
             there, there_bytes, here, here_bytes);
}

/* Compares interfaces of one name; without such, the largest MTU of each host. */
static void compare_mtu(struct doctor *d, const char *host, const json_t *mtu) {
  const char *here, *there, *key;
  bool common = false;
  json_t *own;
  json_object_foreach(d->mtu, key, own) {
    const json_t *other = json_object_get(mtu, key);
    if (!json_is_integer(other)) continue;
    common = true;
    if (json_integer_value(other) != json_integer_value(own))
      add_mtu(d, host, key, json_integer_value(other), key, json_integer_value(own));
  }
  if (common) return;
  const json_int_t own_bytes = largest_mtu(d->mtu, &here), bytes = largest_mtu(mtu, &there);
  if (own_bytes && bytes && own_bytes != bytes) add_mtu(d, host, there, bytes, here, own_bytes);
}

void doctor_judge_report(struct doctor *d, const char *host, const json_t *report) {
  size_t i;
  json_t *check;
  json_array_foreach(json_object_get(report, "checks"), i, check) judge_check(d, host, check);
  compare_mtu(d, host, json_object_get(report, "mtu_bytes"));
}

/* ---- ssh */

/* Adds the words of a text, which it cuts. */
static size_t add_words(char **words, size_t count, char *text) {
  char *save = NULL;
  for (char *w = strtok_r(text, " \t", &save); w && count < WORDS_MAX - 4;
       w = strtok_r(NULL, " \t", &save))
    words[count++] = w;
  return count;
}

/* Starts ssh to ask a host for its version and its report. */
static void ask_host(struct doctor_program *p, const char *host) {
  char command[1024], options[1024], program[1024], ask[2200], timeout[64];
  char *words[WORDS_MAX];
  const char *more = tmb_spawn_setting(TMB_CFG_SSH_OPTIONS, "SSH_OPTIONS");
  const char *folder = tmb_spawn_setting(TMB_CFG_SSH_REMOTE_PATH, "SSH_REMOTE_PATH");
  snprintf(command, sizeof command, "%s", doctor_ssh_command());
  snprintf(options, sizeof options, "%s", more ? more : "");
  if (folder)
    snprintf(program, sizeof program, "%s/tombolo", folder);
  else
    snprintf(program, sizeof program, "%s", tmb_os_exe_name());
  snprintf(ask, sizeof ask, "'%s' --version && { '%s' doctor --json; true; }", program, program);
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

/* Takes the report from the end of a text. Returns NULL if it has none. */
static json_t *take_report(char *text) {
  char *start = strncmp(text, "{\n", 2) == 0 ? text : strstr(text, "\n{\n");
  json_t *report = start ? json_loads(start, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
  if (start) *start = '\0';
  return report;
}

/* The last line of a text: lines before it are a greeting of the host's shell. */
static const char *last_line(const char *text) {
  const char *line = strrchr(text, '\n');
  return line ? line + 1 : text;
}

/* Whether two texts of --version name one version and revision; compilers may differ. */
static bool same_version(const char *a, const char *b) {
  const size_t bytes = strcspn(a, ",");
  return bytes == strcspn(b, ",") && memcmp(a, b, bytes) == 0;
}

/* tombolo could not be started there. in line: output of the shell or the loader. */
static void judge_missing(struct doctor *d, const char *host, const char *line) {
  if (strstr(line, "error while loading shared libraries"))
    doctor_add(d, DOCTOR_ERROR, "host",
               "Install that library there (libjansson.so.4 is in libjansson4; 'ldd' shows what "
               "is missing).",
               "%s: tombolo misses a library: %s", host, line);
  else
    doctor_add(d, DOCTOR_ERROR, "host",
               "Install tombolo there in the same folder, or name its folder by "
               "TOMBOLO_SSH_REMOTE_PATH.",
               "%s: tombolo is not there: %s", host, line);
}

static void judge_failure(struct doctor *d, const char *host, const struct doctor_program *p) {
  char remedy[512];
  const char *line = last_line(p->text);
  const int code = p->status >= 0 && WIFEXITED(p->status) ? WEXITSTATUS(p->status) : -1;
  if (p->status < 0) {
    doctor_add(d, DOCTOR_ERROR, "host",
               "Check that the host is up, and whether a firewall drops its packets in one "
               "direction; TOMBOLO_SSH_TIMEOUT sets the time.",
               "%s does not answer", host);
  } else if (code == SSH_FAILED) {
    snprintf(remedy, sizeof remedy,
             "Make 'ssh %s true' work without a question: ssh-copy-id, an agent, known_hosts.",
             host);
    doctor_add(d, DOCTOR_ERROR, "host", remedy, "%s: ssh fails: %s", host, line);
  } else if (code == NOT_FOUND) {
    judge_missing(d, host, line);
  } else {
    doctor_add(d, DOCTOR_ERROR, "host", "Run 'tombolo doctor' on that host.",
               "%s: 'tombolo --version' there ends with code %d: %s", host, code, line);
  }
}

static void judge_host(struct doctor *d, const char *host, struct doctor_program *p) {
  if (p->status != 0) {
    judge_failure(d, host, p);
    return;
  }
  json_t *report = take_report(p->text);
  const char *line = last_line(p->text);
  if (!same_version(line, tool_version()))
    doctor_add(d, DOCTOR_ERROR, "host", "Install the same version on all hosts.",
               "%s has \"%s\", this host has \"%s\"", host, line, tool_version());
  else if (!report)
    doctor_add(d, DOCTOR_WARNING, "host", "Run 'tombolo doctor' on that host.",
               "%s: ssh works without a password; %s; its doctor prints no report", host, line);
  else
    doctor_add(d, DOCTOR_OK, "host", NULL, "%s: ssh works without a password; %s", host, line);
  if (report && same_version(line, tool_version())) doctor_judge_report(d, host, report);
  json_decref(report);
}

void doctor_hosts(struct doctor *d, const struct host_list *list) {
  if (list->count == 0 || !tool_program_exists(doctor_ssh_command())) return;
  struct doctor_program *programs = calloc(list->count, sizeof *programs);
  if (!programs) {
    doctor_add(d, DOCTOR_ERROR, "hosts", "Ask for fewer hosts at once.", "out of memory for %u",
               list->count);
    return;
  }
  const double wait_s = tmb_cfg_dbl(TMB_CFG_SSH_TIMEOUT) + CHECKS_S;
  const uint64_t deadline = tmb_os_now_ns() + (uint64_t)(wait_s * 1e9);
  for (uint32_t h = 0; h < list->count; h++)
    if (!tmb_os_is_this_host(list->entry[h].name)) ask_host(&programs[h], list->entry[h].name);
  for (uint32_t h = 0; h < list->count; h++) {
    const char *host = list->entry[h].name;
    if (tmb_os_is_this_host(host)) {
      doctor_add(d, DOCTOR_OK, "host", NULL, "%s: this host, which needs no ssh", host);
      continue;
    }
    doctor_program_finish(&programs[h], deadline);
    judge_host(d, host, &programs[h]);
  }
  free(programs);
}
