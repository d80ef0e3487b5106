/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `tombolo info` says of the providers of libfabric.
 *
 * Owns the exported symbol tombolo_net_describe. Called by the command, which loads the plug-in and
 * knows its type (tools/info_net.c). Calls ofi_choose.c and libfabric. Nothing is opened or sent.
 * Invariant: what is not usable, or not taken, has its reason.
 */
#include "base/compiler.h"
#include "net/ofi/ofi_engine.h"

#include <stdio.h>

/* What the caller gives: settings by name, and where each line goes. */
struct describe {
  const char *(*setting)(const char *name);
  void (*line)(void *arg, const char *name, bool usable, const char *text);
  void *arg;
};

static void say_usable(const struct describe *d, uint32_t row, const struct fi_info *info,
                       bool taken) {
  char text[256];
  const bool saw = (info->tx_attr->msg_order & FI_ORDER_SAW) != 0;
  snprintf(text, sizeof text,
           "%s%sdomain %s, injects %zu B, %s%s, atomics by the owner's processor",
           taken ? "taken if all ranks have it: " : "after the one above: ",
           ofi_choose_emulated(row) ? "made of sockets, " : "", info->domain_attr->name,
           info->tx_attr->inject_size,
           saw ? "signals right behind puts" : "signals after puts are complete",
           info->domain_attr->mr_mode & FI_MR_LOCAL ? ", registers local buffers" : "");
  d->line(d->arg, ofi_choose_name(row), true, text);
}

static void say_missing(const struct describe *d, const struct ofi_calls *calls, uint32_t row,
                        const char *wanted) {
  const char *name = ofi_choose_name(row);
  struct fi_info *infos[OFI_PROVIDERS];
  const bool there = ofi_choose_list(calls, name, NULL, infos) >> row & 1;
  const bool by_setting = wanted && *wanted;
  char text[256];
  ofi_choose_free(calls, infos);
  if (!there)
    snprintf(text, sizeof text,
             "libfabric offers no such provider with reliable datagrams and "
             "remote memory access here (fi_info says more)");
  else if (by_setting)
    snprintf(text, sizeof text, "TOMBOLO_OFI_PROVIDER names %s", wanted);
  else
    snprintf(text, sizeof text,
             "only if TOMBOLO_OFI_PROVIDER=%s asks for it, or "
             "TOMBOLO_OFI_DEVICE names another domain",
             name);
  d->line(d->arg, name, false, text);
}

TMB_EXPORT extern void tombolo_net_describe(const struct describe *d);

void tombolo_net_describe(const struct describe *d) {
  char why[256];
  const struct ofi_calls *calls = ofi_calls_load(why, sizeof why);
  if (!calls) {
    d->line(d->arg, "libfabric", false, why);
    return;
  }
  const char *wanted = d->setting("TOMBOLO_OFI_PROVIDER");
  struct fi_info *infos[OFI_PROVIDERS];
  (void)ofi_choose_list(calls, wanted, d->setting("TOMBOLO_OFI_DEVICE"), infos);
  bool any = false, slow = true;
  for (uint32_t i = 0; i < OFI_PROVIDERS && ofi_choose_name(i); i++) {
    if (!infos[i]) {
      say_missing(d, calls, i, wanted);
      continue;
    }
    say_usable(d, i, infos[i], !any);
    any = true;
    slow = slow && ofi_choose_emulated(i);
  }
  const char *fabric = ofi_choose_fabric();
  if (any && slow && fabric) {
    snprintf(why, sizeof why, "%s shows a fabric, but no provider above is for it: slow", fabric);
    d->line(d->arg, "warning", false, why);
  }
  ofi_choose_free(calls, infos);
}
