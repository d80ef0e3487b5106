/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo info`: the document that is collected once and printed as text, JSON or Markdown.
 *
 * Owns: nothing. Included by tools/info*.c. Calls: jansson.
 * Invariants: the document is {section: {key: value} or [{...}]} in print order; a key's last word
 * is the unit of its number: bytes, ns, hz.
 */
#ifndef TMB_TOOLS_INFO_H
#define TMB_TOOLS_INFO_H

#include <jansson.h>
#include <stdbool.h>

/* Everything but the settings, or the part about networks; call info_settings first. Return a new
 * reference, NULL without memory. */
json_t *info_collect(void);
json_t *info_collect_network(void);

/*
 * Every setting; takes those that are wrong out of our environment: [{name, alias, value, source,
 * default, type, allowed, unit, help, effect, error}]. out bad: how many have a value that is not
 * allowed. Returns a new reference, NULL without memory.
 */
json_t *info_settings(int *bad);

/* info_net.c: the interfaces of this machine, and the networks that reach ranks: [{name, available,
 * why}], the former also with mtu_bytes and addresses. in interfaces: as of info_interfaces. Return
 * new references. */
json_t *info_interfaces(void);
json_t *info_conduits(const json_t *interfaces);

/* The providers that the conduit ofi knows, the best first; empty without its plug-in. out rails:
 * new, of the domains of the provider that is taken: whether long transfers use them. */
json_t *info_providers(json_t **rails);

/* info_shmem.c: the OpenSHMEM library here: {library, name, specification, symmetric_heap,
 * symmetric_data}, or {library} with the reason. Returns a new reference. */
json_t *info_shmem(void);

/* Print the document or the settings for people on stdout. */
void info_print_text(const json_t *document);
void info_print_settings(const json_t *settings);

/* Print the table of docs/SETTINGS.md on stdout: no values, nothing of this machine. */
void info_print_markdown(const json_t *settings);

#endif
