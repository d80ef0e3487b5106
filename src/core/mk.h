/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of segment memory.
 *
 * Owns: struct tmb_mk_ops, what a kind provides to segment_create.c. Called by gex_Segment_Create
 * and gex_Segment_Destroy. Calls nothing. A segment arrives with `base` and `size` as the client
 * asked; functions return GASNET_OK or the code that the public call returns. Invariants: `alloc`
 * sets base and may raise size; `free` undoes alloc; `import` checks and registers memory of the
 * client, `release` (may be NULL) undoes that.
 */
#ifndef TMB_CORE_MK_H
#define TMB_CORE_MK_H

#include "core/job.h"

struct tmb_mk_ops {
  const char *name;
  bool host_memory; /* the processor may load and store */
  int (*alloc)(struct gexx_segment_s *s);
  void (*free)(struct gexx_segment_s *s);
  int (*import)(struct gexx_segment_s *s);
  void (*release)(struct gexx_segment_s *s);
};

extern const struct tmb_mk_ops tmb_mk_host;

#endif
