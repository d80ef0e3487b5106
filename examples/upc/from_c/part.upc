/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared array of main.c. */
#include <upc.h>

static shared int words[THREADS];

int *my_word(void) {
  return (int *)&words[MYTHREAD];
}

/* The word of the thread before this one. */
int left_word(void) {
  return words[(MYTHREAD + THREADS - 1) % THREADS];
}
