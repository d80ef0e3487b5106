/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of libfabric's providers for `tombolo info`.
 *
 * Owns the exported symbol tombolo_net_describe. Called by the command, which loads the plug-in and
 * knows its type (tools/info/info_net.c). Calls ofi_choose.c and libfabric. Nothing is opened or
 * sent. Invariant: a provider that is not usable, or not taken, has its reason.
 */
#include "base/compiler.h"
#include "net/ofi/ofi_engine.h"

#include <stdio.h>
#include <string.h>

/* Arguments of the caller: settings by name, and where each line goes: of a provider, or of a
 * domain that may be a rail. */
struct describe {
  const char *(*setting)(const char *name);
  void (*line)(void *arg, const char *name, bool usable, const char *text);
  void *arg, *rails;
};

/* Prints how a provider performs atomic operations. */
static void say_atomics(const struct describe *d, const struct ofi_calls *calls,
                        const struct fi_info *plain, char *text, size_t bytes) {
  const char *setting = d->setting("TOMBOLO_OFI_ATOMICS");
  struct fi_info *info = calls->dupinfo(plain);
  const char *why =
      info ? ofi_choose_atomics(calls, setting ? setting : "auto", &info) : "out of memory";
  if (why)
    snprintf(text, bytes, "atomics by the owner's processor (%s)", why);
  else
    snprintf(text, bytes, "atomics by the provider, in domains whose operations it has all%s",
             info->tx_attr->msg_order & FI_ORDER_SAW ? "" : "; signals then after the end of puts");
  if (info) calls->freeinfo(info);
}

static void say_usable(const struct describe *d, const struct ofi_calls *calls, uint32_t row,
                       const struct fi_info *info, bool taken) {
  char text[512], atomics[256];
  const bool saw = (info->tx_attr->msg_order & FI_ORDER_SAW) != 0;
  say_atomics(d, calls, info, atomics, sizeof atomics);
  snprintf(text, sizeof text,
           "%s; domain %s%s; injects up to %zu B; a signal is sent %s its put%s; %s",
           taken ? "the first choice, if all ranks have it" : "the choice after the one above",
           info->domain_attr->name, ofi_choose_emulated(row) ? ", by sockets of the kernel" : "",
           info->tx_attr->inject_size, saw ? "right behind" : "after the end of",
           info->domain_attr->mr_mode & FI_MR_LOCAL ? "; local buffers must be registered" : "",
           atomics);
  d->line(d->arg, ofi_choose_name(row), true, text);
}

static void say_missing(const struct describe *d, const struct ofi_calls *calls, uint32_t row,
                        const char *wanted) {
  const char *name = ofi_choose_name(row);
  struct fi_info *infos[OFI_PROVIDERS];
  const bool there = ofi_choose_list(calls, name, NULL, infos) >> row & 1;
  const bool by_setting = wanted && *wanted;
  char text[512], lacks[200];
  ofi_choose_free(calls, infos);
  if (!there)
    snprintf(text, sizeof text,
             "no device for it, not in this libfabric, or without reliable datagrams and remote "
             "memory access: 'fi_info -p \"%s\"' shows which%s",
             name, ofi_choose_lacks(name, lacks, sizeof lacks));
  else if (by_setting)
    snprintf(text, sizeof text, "TOMBOLO_OFI_PROVIDER names %s", wanted);
  else
    snprintf(text, sizeof text,
             "only if TOMBOLO_OFI_PROVIDER=%s asks for it, or TOMBOLO_OFI_DEVICE or "
             "TOMBOLO_OFI_INTERFACES names another domain",
             name);
  d->line(d->arg, name, false, text);
}

/* ---- rails */

/* Of the provider that is taken. */
struct rails {
  const char *list;  /* TOMBOLO_OFI_INTERFACES, or NULL */
  const char *taken; /* the first rail's domain */
  uint64_t mr_mode;  /* of it */
  uint32_t count;
  struct ofi_domain domain[OFI_DOMAINS];
};

/* Position of a domain in the setting, or UINT32_MAX. */
static uint32_t position_of(const char *list, const char *domain) {
  char name[OFI_NAME_MAX];
  for (uint32_t r = 0; ofi_choose_rail(list, r, name, sizeof name); r++)
    if (strcmp(name, domain) == 0) return r;
  return UINT32_MAX;
}

/* A domain that the setting does not name. */
static bool say_unnamed(const struct rails *rails, const struct ofi_domain *domain, char *text,
                        size_t bytes) {
  const char *others = rails->list && *rails->list ? rails->list : rails->taken;
  const bool taken = strcmp(domain->name, rails->taken) == 0;
  if (taken)
    snprintf(text, bytes, "takes everything: TOMBOLO_OFI_INTERFACES is not set");
  else if (domain->reach < 2)
    snprintf(text, bytes, "leads to no other host");
  else if (domain->reach == 2)
    snprintf(text, bytes, "has a link-local address only: give it another one ('ip addr add')");
  else
    snprintf(text, bytes,
             "not named: TOMBOLO_OFI_INTERFACES=%s,%s on all hosts lets long puts and gets use it",
             others, domain->name);
  return taken;
}

/* Prints a domain that the setting names. */
static bool say_named(const struct rails *rails, const struct ofi_domain *domain, uint32_t position,
                      char *text, size_t bytes) {
  if (position >= OFI_RAILS)
    snprintf(text, bytes, "TOMBOLO_OFI_INTERFACES names more than %u: the first ones are used",
             OFI_RAILS);
  else if (position && domain->mr_mode != rails->mr_mode)
    snprintf(text, bytes, "it wants memory registered in another mode than %s", rails->taken);
  else if (position)
    snprintf(text, bytes, "rail %u: its share of what has 256 KiB and more", position);
  else
    snprintf(text, bytes, "rail 0: everything, and its share of what has 256 KiB and more");
  return position < OFI_RAILS && (!position || domain->mr_mode == rails->mr_mode);
}

/* Names that the provider does not know. */
static void say_unknown(const struct describe *d, const struct rails *rails, const char *provider) {
  char name[OFI_NAME_MAX], text[512];
  for (uint32_t r = 1; ofi_choose_rail(rails->list, r, name, sizeof name); r++) {
    uint32_t at = 0;
    while (at < rails->count && strcmp(rails->domain[at].name, name) != 0) at++;
    if (at < rails->count) continue;
    snprintf(text, sizeof text,
             "provider %s has no such domain here: long puts and gets of this host go without it",
             provider);
    d->line(d->rails, name, false, text);
  }
}

/* The domains of the provider that is taken. */
static void say_rails(const struct describe *d, const struct ofi_calls *calls, uint32_t row,
                      const struct fi_info *info) {
  struct rails rails = {.list = d->setting("TOMBOLO_OFI_INTERFACES"),
                        .taken = info->domain_attr->name,
                        .mr_mode = (uint64_t)info->domain_attr->mr_mode};
  rails.count = ofi_choose_domains(calls, row, rails.domain);
  for (uint32_t i = 0; i < rails.count; i++) {
    const struct ofi_domain *const domain = &rails.domain[i];
    const uint32_t position = position_of(rails.list, domain->name);
    char text[2 * OFI_NAME_MAX + 256];
    const bool used = position == UINT32_MAX
                          ? say_unnamed(&rails, domain, text, sizeof text)
                          : say_named(&rails, domain, position, text, sizeof text);
    d->line(d->rails, domain->name, used, text);
  }
  say_unknown(d, &rails, ofi_choose_name(row));
}

TMB_EXPORT extern void tombolo_net_describe(const struct describe *d);

void tombolo_net_describe(const struct describe *d) {
  char why[256];
  const struct ofi_calls *calls = ofi_calls_load(0, why, sizeof why);
  if (!calls) {
    d->line(d->arg, "libfabric", false, why);
    return;
  }
  const char *wanted = d->setting("TOMBOLO_OFI_PROVIDER");
  char first[OFI_NAME_MAX];
  const char *device =
      ofi_choose_rail(d->setting("TOMBOLO_OFI_INTERFACES"), 0, first, sizeof first);
  struct fi_info *infos[OFI_PROVIDERS];
  (void)ofi_choose_list(calls, wanted, device ? device : d->setting("TOMBOLO_OFI_DEVICE"), infos);
  bool any = false, slow = true;
  for (uint32_t i = 0; i < OFI_PROVIDERS && ofi_choose_name(i); i++) {
    if (!infos[i]) {
      say_missing(d, calls, i, wanted);
      continue;
    }
    say_usable(d, calls, i, infos[i], !any);
    if (!any) say_rails(d, calls, i, infos[i]);
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
