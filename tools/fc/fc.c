/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo fc`: compiles and links a coarray Fortran program with gfortran or flang.
 *
 * Owns: the options that the compilers need for this library. Called by main.c. Calls: execvp of
 * the compiler. Invariants: every argument that is not its own goes to the compiler unchanged and
 * in order; added options stand before and behind; nothing is linked where the arguments say not
 * to.
 */
#define _GNU_SOURCE
#include "fc/command.h"
#include "fc/compiler.h"
#include "fc/module.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_COMPILER "gfortran"
#define EXTRA            (16 + COMMAND_CHECK_EXTRA) /* arguments that may be added, and NULL */

/* Parsed arguments. */
struct request {
  struct fc_compiler compiler;
  char *modules; /* folder of the compiler's modules, or NULL */
  struct command_own own;
  bool prif;  /* the library is libprif_tombolo */
  bool input; /* there is something to compile or link */
  bool links;
};

static const char usage[] =
    "Usage: tombolo fc [--check] [--show] [--compiler=COMMAND] [--prif] ARGUMENTS...\n\n"
    "Compiles coarray Fortran, and links it with Tombolo unless the arguments stop before that\n"
    "(-c, -S, -E, -fsyntax-only). Run the program with 'tombolo run -n IMAGES ./PROGRAM'.\n"
    "The compiler is gfortran, or flang 22 or newer, which compiles less of coarray Fortran.\n\n"
    "  --check             let 'tombolo run --check races' see the program's own loads and "
    "stores;\n"
    "                      gfortran only\n"
    "  --show              print the command instead of running it\n"
    "  --compiler=COMMAND  the compiler (default: $TOMBOLO_FC, else $FC if it names gfortran or\n"
    "                      flang, else gfortran)\n"
    "  --prif              the program calls PRIF itself ('use prif'); always so with flang\n"
    "  --help              print this text\n\n"
    "Example: tombolo fc -O2 hello.f90 -o hello && tombolo run -n 4 ./hello\n";

/* Whether the compiler takes our modules: gfortran 11 cannot pass such arguments to C. */
static bool takes_module(const struct fc_compiler *compiler) {
  return compiler->is_flang ? compiler->major >= FLANG_FIRST : compiler->major >= GFORTRAN_PRIF;
}

/* Folder of the modules for a compiler, and of the files that it links besides the library: that of
 * the installation, else one of the user. NULL: none. */
static char *modules_folder(const struct request *r, const char *command) {
  if (!tool_libraries() || !*r->compiler.modules) return NULL;
  char *folder = tool_format(tool_libraries(), "/tombolo/fortran/", r->compiler.modules);
  char *module = tool_format(folder, "/prif.mod", "");
  const bool found = access(r->prif ? module : folder, R_OK) == 0;
  free(module);
  if (found) return folder;
  free(folder);
  return takes_module(&r->compiler)
             ? fc_module_make(&r->compiler, command, tool_libraries(), r->prif)
             : NULL;
}

/* Name of the library: from gfortran 16 on, team calls have other arguments. */
static const char *library_of(const struct request *r) {
  if (r->prif) return "prif_tombolo";
  return r->compiler.major >= 16 ? "caf_tombolo16" : "caf_tombolo";
}

/* Adds a file of a folder, if it is there; whether it is. */
static bool add_file(struct command *c, const char *folder, const char *name) {
  char *path = tool_format(folder, "/", name);
  const bool there = access(path, R_OK) == 0;
  if (there) command_add(c, path);
  return there;
}

/* Add the procedures of the module prif, and the files for flang's statements that end a program:
 * cmake/TmbPrifFortran.cmake. Returns 0 or an exit code. */
static int add_prif(struct command *c, const struct request *r) {
  char *common = tool_format(tool_libraries(), "/tombolo/fortran/prif", "");
  if (!r->modules) {
    if (!takes_module(&r->compiler))
      tmb_print("fc: '%s' is gfortran %d, which cannot compile the module prif; use gfortran %d or "
                "newer, or flang (docs/PRIF.md)",
                c->argv[0], r->compiler.major, GFORTRAN_PRIF);
    return TOOL_EXIT_FAILED;
  }
  if (!add_file(c, r->modules, "libprif_fortran.a")) {
    add_file(c, r->modules, "tombolo_prif.o");
    add_file(c, r->modules, "prif.o");
    if (r->compiler.is_flang) add_file(c, common, "program.o");
  }
  if (r->compiler.is_flang) command_add(c, tool_format("@", common, "/flang.link"));
  free(common);
  return 0;
}

/* Add the arguments for linking. Returns 0 or an exit code. */
static int add_libraries(struct command *c, const struct request *r) {
  const char *const folder = tool_libraries();
  if (!folder) {
    tmb_print("fc: the folder of this command cannot be found in /proc/self/exe: %s",
              strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  const char *name = library_of(r);
  char *library = tool_format(tool_format(folder, "/lib", ""), name, ".so");
  if (access(library, R_OK) != 0) {
    tmb_print(
        "fc: %s: %s; `make build` makes it, `make install` installs it, unless TMB_FORTRAN is OFF",
        library, strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  free(library);
  const int code = r->prif ? add_prif(c, r) : 0;
  if (code) return code;
  /* the library refers to them weakly, which takes nothing out of libgfortran.a */
  if (!r->compiler.is_flang)
    command_add(c, tool_format("-Wl,-u,_gfortran_flush_i4,-u,_gfortran_random_seed_i4", "", ""));
  command_add(c, tool_format("-L", folder, ""));
  command_add(c, tool_format("-Wl,-rpath,", folder, ""));
  command_add(c, tool_format("-l", name, ""));
  if (command_is_static(c))
    command_add(c, tool_format("-ltombolo", "", "")); /* the shared one names it itself */
  return 0;
}

/* Whether the compiler can compile coarrays; prints why not. One that is not there is found
 * missing when it is run. */
static bool is_usable(const struct request *r, const char *command) {
  if (!r->compiler.is_flang || r->compiler.major == 0 || r->compiler.major >= FLANG_FIRST)
    return true;
  tmb_print("fc: '%s' is flang %d, which has no -fcoarray; install flang %d or newer (package "
            "flang-%d), and name it with --compiler=COMMAND or TOMBOLO_FC",
            command, r->compiler.major, FLANG_FIRST, FLANG_FIRST);
  return false;
}

static const char *default_compiler(void) {
  const char *name = tmb_env_get("TOMBOLO_FC");
  if (name && *name) return name;
  name = tmb_env_get("FC");
  return name && fc_compiler_is_known(name) ? name : DEFAULT_COMPILER;
}

/* Takes this command's own options out of the arguments. Returns the compiler; NULL: help was
 * printed. */
static const char *read_arguments(struct command *c, struct request *r, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      return NULL;
    }
    if (command_own(&r->own, argv[i])) continue;
    if (strcmp(argv[i], "--prif") == 0)
      r->prif = true;
    else
      command_add(c, argv[i]);
  }
  const char *const compiler = r->own.compiler;
  return compiler && *compiler ? compiler : default_compiler();
}

/* Whether the compiler can name loads and stores; prints why not. */
static bool can_check(const struct request *r) {
  if (!r->own.check || !r->compiler.is_flang) return true;
  tmb_print("fc: --check: '%s' is flang, which has no known option for it; use "
            "gfortran",
            r->compiler.version);
  return false;
}

/* Signals are the library's, which explains a crash once for all ranks; libgfortran would print
 * each rank's frames, mixed. Not where the user asks for that. */
static void leave_signals(const struct request *r, struct command *c) {
  if (r->compiler.is_flang || !r->input) return;
  for (int i = 2; i < c->argc; i++)
    if (strcmp(c->argv[i], "-fbacktrace") == 0) return;
  command_add(c, "-fno-backtrace");
}

/* Finishes the command, and runs or prints it. c->argv[1] is free for the option for coarrays. */
static int compile(struct command *c, struct request *r) {
  if (r->compiler.is_flang)
    c->argv[1] = "-fcoarray";
  else
    c->argv[1] = r->prif ? "-fcoarray=none" : "-fcoarray=lib";
  r->prif = r->prif || r->compiler.is_flang;
  r->modules = r->input ? modules_folder(r, c->argv[0]) : NULL;
  if (r->modules) command_add(c, tool_format("-I", r->modules, ""));
  leave_signals(r, c);
  const struct command_checked how = {"fc", c->argv[0], false, r->links, c};
  if (r->own.check && r->input) command_check_before(c, &how);
  const bool missing = r->prif && r->compiler.major == 0; /* says so below */
  int code = r->links && !missing ? add_libraries(c, r) : 0;
  if (!code && r->own.check) code = command_check_behind(c, &how);
  if (code) return code;
  return r->own.only_show ? command_show(c) : command_run(c, "fc", "TOMBOLO_FC");
}

int tool_fc_main(int argc, char **argv) {
  if (argc == 1) {
    fputs(usage, stderr);
    return TOOL_EXIT_USAGE;
  }
  char **arguments = calloc((size_t)argc + EXTRA, sizeof *arguments);
  if (!arguments) {
    tmb_print("fc: out of memory");
    return TOOL_EXIT_FAILED;
  }
  struct command c = {arguments, 0};
  struct request r = {0};
  command_add(&c, NULL);
  command_add(&c, NULL); /* the option for coarrays, below */
  const char *compiler = read_arguments(&c, &r, argc, argv);
  if (!compiler) return 0;
  c.argv[0] = (char *)(uintptr_t)compiler;
  fc_compiler_ask(&r.compiler, compiler);
  if (!is_usable(&r, compiler) || !can_check(&r)) return TOOL_EXIT_FAILED;
  r.input = command_has_input(argc, argv);
  r.links = r.input && command_links(argc, argv);
  return compile(&c, &r);
}
