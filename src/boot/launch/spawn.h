/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that start their own ranks by a number on their command line, as those of conduit udp
 * do:
 * `./prog N args...`.
 *
 * Owns no state. Called by core before tmb_boot_start. Calls: base, os, execve. Invariants: a call
 * that returns has either not been asked to spawn, or its ranks will be forked by tmb_boot_start; a
 * program that goes to other hosts becomes `tombolo run` and does not return.
 */
#ifndef TMB_BOOT_SPAWN_H
#define TMB_BOOT_SPAWN_H

#include "base/config.h"

/* Path of the command `tombolo`, beside this library, else its name; malloc'd, NULL: no memory. */
char *tmb_spawn_command(void);

/* A setting that users of other launchers give under more names: as in config.def, or AMUDP_NAME,
 * or NAME alone. in name: "SSH_SERVERS". Returns NULL if it is unset or empty. */
const char *tmb_spawn_setting(enum tmb_cfg_id id, const char *name);

/* L, S or C of GASNET_SPAWNFN; 0: unset. Ends the process if it is none of them. */
int tmb_spawn_function(void);

/* Hosts that a setting names. */
struct tmb_spawn_list {
  const char *text; /* a list or the name of a file; NULL: no setting names hosts */
  bool is_file;
  char from[64]; /* the setting, as it was given */
};

/* in function: as of tmb_spawn_function. */
struct tmb_spawn_list tmb_spawn_hosts(int function);

/*
 * If this process was not launched and its first argument is a number of ranks: start so many, as
 * GASNET_SPAWNFN says: L: by fork on this machine; S: by ssh on the hosts of GASNET_SSH_SERVERS; C:
 * by GASNET_CSPAWN_CMD; unset: S if hosts are named, else L. The number is taken out of the
 * arguments, also of those of the ranks.
 * inout argc, argv: of main, may be NULL. Ends the process after a message where it cannot be done.
 */
void tmb_boot_spawn(int *argc, char ***argv);

#endif
