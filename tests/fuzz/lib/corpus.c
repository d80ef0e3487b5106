/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives each file of the folders that the command line names to a fuzzer's function, once, without
 * new inputs: what was found once is tried in each `make test`, also without clang. What is wrong
 * ends the program: the sanitizers, or abort in the function.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 }; /* bytes of a file */

/* The input in memory of exactly its size, so that a byte too far is seen. */
static void try(const char *folder, const char *name) {
  static uint8_t all[MOST];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  const size_t bytes = fread(all, 1, sizeof all, file);
  fclose(file);
  uint8_t *input = malloc(bytes ? bytes : 1);
  if (!input) abort();
  for (size_t i = 0; i < bytes; i++) input[i] = all[i];
  fprintf(stderr, "%s\n", path); /* the last one is the one that is wrong */
  LLVMFuzzerTestOneInput(input, bytes);
  free(input);
}

int main(int argc, char **argv) {
  int tried = 0;
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;)
      if (e->d_name[0] != '.') {
        try(argv[i], e->d_name);
        tried++;
      }
    if (folder) closedir(folder);
  }
  fprintf(stderr, "%d inputs\n", tried);
  return tried ? 0 : 1;
}
