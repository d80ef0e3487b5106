/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* again: TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=udp */
/*
 * The start of the library raises no flag of floating-point exceptions, takes none back, needs no
 * flag that traps, and leaves the rounding mode: a Fortran program reports flags at STOP, and one
 * compiled with -ffpe-trap has traps.
 */
#define _GNU_SOURCE
#include "job.h"

#include <fenv.h>
#include <gasnet_tools.h>
#include <stdio.h>

int main(int argc, char **argv) {
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_UNDERFLOW);
  const int raised = fetestexcept(FE_ALL_EXCEPT); /* underflow may raise inexact, too */
  fesetround(FE_UPWARD);
#ifdef __x86_64__
  feclearexcept(FE_INEXACT);
  const int flags = raised & ~FE_INEXACT;
  feenableexcept(FE_INEXACT | FE_DIVBYZERO | FE_INVALID);
  const int traps = fegetexcept();
#else
  const int flags = raised;
#endif
  job_start(&argc, &argv, 4096, NULL, 0);
  (void)gasnet_getMaxLocalSegmentSize();
  (void)gasnett_ticks_to_ns(gasnett_ticks_now());
  CHECK_EQ(fetestexcept(FE_ALL_EXCEPT), flags);
  CHECK_EQ(fegetround(), FE_UPWARD);
#ifdef __x86_64__
  CHECK_EQ(fegetexcept(), traps);
  fedisableexcept(FE_ALL_EXCEPT);
#endif
  fesetround(FE_TONEAREST);
  return job_finish();
}
