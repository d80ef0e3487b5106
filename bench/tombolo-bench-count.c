/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs each short path of the library a known number of times, as a SEQ client.
 *
 * Owns nothing. Called by: scripts/count_paths.py, under valgrind. Calls: bench/lib/paths.c.
 * Invariant: measures nothing by itself; see bench/lib/paths.h for the agreement with the script.
 */
#include "lib/paths.h"

int main(int argc, char **argv) {
  paths_main("count", argc, argv);
}
