/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program in C that starts UPC, calls functions in UPC, and puts by GASNet-EX.
 *
 * Compile: tombolo cc --parsync -I$(tombolo upcc -print-include-dir) -c main.c &&
 *          tombolo upcc -extern-main main.o part.upc -o from_c
 * Run:     tombolo run -n 4 ./from_c
 */
#include <bupc_extern.h>
#include <gasnetex.h>
#include <tombolo_upc.h>

#include <stdio.h>

int *my_word(void); /* part.upc */
int left_word(void);

/* Writes into the word of the next thread, without UPC. */
static void put_right(int *word, int value) {
  gex_TM_t team;
  void *owner;
  tombolo_upc_query(NULL, NULL, &team);
  const int right = (bupc_extern_mythread() + 1) % bupc_extern_threads();
  tombolo_upc_peer_address(word, right, &owner);
  gex_RMA_PutBlocking(team, (gex_Rank_t)right, owner, &value, sizeof value, 0);
}

int main(int argc, char **argv) {
  bupc_init(&argc, &argv);
  const int me = bupc_extern_mythread(), threads = bupc_extern_threads();
  put_right(my_word(), 100 + me);
  bupc_extern_barrier(0);
  const int left = left_word(), wrong = left != 100 + (me + 2 * (threads - 1)) % threads;
  printf("thread %d of %d: %s\n", me, threads, wrong ? "wrong" : "right");
  bupc_extern_barrier(0);
  bupc_exit(wrong);
}
