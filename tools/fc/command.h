/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of a compiler that `tombolo fc`, `cc` and `c++` make, show and become.
 *
 * Owns: struct command. Included by fc.c and cc.c. Calls: nothing.
 * Invariants: argv ends with NULL after each addition; its owner has given it room.
 */
#ifndef TMB_FC_COMMAND_H
#define TMB_FC_COMMAND_H

#include <stdbool.h>

/* Arguments of the compiler. */
struct command {
  char **argv;
  int argc;
};

/* Options that `fc`, `cc` and `c++` have. */
struct command_own {
  bool check, only_show;
  const char *compiler; /* NULL: not given */
};

/* Takes an argument that is one of these options. Returns whether it is. */
bool command_own(struct command_own *own, const char *argument);

void command_add(struct command *c, char *argument);

/* Whether the arguments let the compiler link. */
bool command_links(int argc, char **argv);

/* Whether there is anything to compile or link: `tombolo fc --version` asks the compiler only. */
bool command_has_input(int argc, char **argv);

/* Whether the compiler links libraries without those that are shared. */
bool command_is_static(const struct command *c);

/* ---- checked.c: compilation with `--check` */
#define COMMAND_CHECK_EXTRA 40 /* arguments that may be added */
struct command_checked {
  const char *tool, *compiler;
  bool is_c, links;           /* C or C++ */
  const struct command *user; /* has the options of the user */
};

/* Adds the options that let the compiler tell of loads and stores. Before those of the user, which
 * may ask for more -O. */
void command_check_before(struct command *c, const struct command_checked *how);

/* Adds the checker's part of the program, behind the user's objects. Returns 0, or an exit code
 * after a message. */
int command_check_behind(struct command *c, const struct command_checked *how);

/* Prints the command as a shell reads it. Returns 0. */
int command_show(const struct command *c);

/* Becomes the compiler. in tool, setting: for the message when it cannot. Returns an exit code. */
int command_run(const struct command *c, const char *tool, const char *setting);

#endif
