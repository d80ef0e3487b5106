/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into shared libraries of UPC (`tombolo upcc -shared`): gives the run-time library their
 * shared objects and initialisers, which the program's start then treats like its own.
 *
 * Owns: the lists of its library. Called before main. Calls: upcr_announce_part. Invariants: as in
 * crt.h.
 */
#include "crt.h"

__attribute__((constructor)) static void announce(void) {
  static struct upcr_part part;
  part = (struct upcr_part){UPCR_SECTIONS, NULL};
  upcr_announce_part(&part);
}
