/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor`: interfaces, conduits and the libraries that they load, ssh.
 *
 * Owns: nothing. Called by doctor.c. Calls: tools/info for interfaces and conduits, the loader,
 * doctor_programs.c to look for programs. Invariants: nothing is sent; doctor_hosts.c asks other
 * hosts.
 */
#include "doctor/doctor.h"
#include "tool.h"

#include "base/config.h"
#include "boot/launch/spawn.h"
#include "info/info.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_BYTES = 512, MTU_LEAST = 1500 };

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
    doctor_add(
        d, DOCTOR_WARNING, "interfaces",
        "Long transfers are faster with a larger MTU: if the network carries it, raise it on "
        "all hosts and switches ('ip link set NAME mtu 9000').",
        "%s", used);
  else
    doctor_add(d, DOCTOR_OK, "interfaces", NULL, "%s", used);
}

/* The MTU of the interfaces that can be used: {name: bytes}. The caller owns it. */
static json_t *doctor_mtu(const json_t *interfaces) {
  json_t *item, *mtu = json_object();
  size_t i;
  json_array_foreach(interfaces, i, item) {
    if (json_is_true(json_object_get(item, "available")))
      json_object_set(mtu, json_string_value(json_object_get(item, "name")),
                      json_object_get(item, "mtu_bytes"));
  }
  return mtu;
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
  const bool mpi = tool_program_exists("mpirun") || tool_program_exists("mpiexec");
  if (mpi)
    doctor_add(d, DOCTOR_OK, "MPI", NULL, "its launcher is there");
  else
    doctor_add(d, DOCTOR_WARNING, "MPI", "If you want that conduit: install openmpi-bin or mpich.",
               "neither mpirun nor mpiexec is in PATH; conduit mpi needs one");
}

/* ---- ssh */

const char *doctor_ssh_command(void) {
  return tmb_spawn_setting(TMB_CFG_SSH, "SSH_CMD");
}

static void check_ssh(struct doctor *d) {
  const char *command = doctor_ssh_command();
  if (tool_program_exists(command))
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
  d->mtu = doctor_mtu(interfaces);
  check_conduits(d, interfaces);
  json_decref(interfaces);
  check_libraries(d);
  check_ssh(d);
}
