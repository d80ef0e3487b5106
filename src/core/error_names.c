/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and meanings of the public return codes (API 02.4, 10.2).
 *
 * Owns: their table. Called by clients and by tmb_refuse. Calls nothing. Invariant: a code that the
 * library returns is in the table.
 */
#include "core/gex.h"

#include "base/compiler.h"

#include <gasnet.h>
#include <gasnetex_ext.h>

static const struct {
  int code;
  const char *name, *text;
} codes[] = {
    {GASNET_OK, "GASNET_OK", "no error"},
    {GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT",
     "not possible in this state: before initialisation, or done before"},
    {GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE", "a resource is missing or used up"},
    {GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG", "an argument is not valid"},
    {GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY", "not complete yet"},
    {GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH",
     "ranks gave different names to a barrier"},
    {GEXX_ERR_LOST, "GEXX_ERR_LOST", "a process that took part was lost"},
};

const char *gasnet_ErrorName(int errval) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(codes); i++)
    if (codes[i].code == errval) return codes[i].name;
  return "*unknown*";
}

const char *gasnet_ErrorDesc(int errval) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(codes); i++)
    if (codes[i].code == errval) return codes[i].text;
  return "no such return code";
}
