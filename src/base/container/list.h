/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Singly linked lists, free lists and queues of structs that have a member `next`.
 *
 * Owns nothing: a list is a pointer to its first struct, NULL if empty. Included by every file that
 * keeps one. A cursor is the address of that pointer or of a struct's `next`: TMB_LIST_PUSH(at, x)
 * inserts x before *at, TMB_LIST_POP(at) removes *at. Callers use the macros, which find the offset
 * of `next` and refuse a struct of another type. The functions behind them copy pointers as bytes,
 * so that one function serves each type. Callers hold the lock of the list. Invariant: the last
 * struct's `next` is NULL.
 */
#ifndef TMB_BASE_CONTAINER_LIST_H
#define TMB_BASE_CONTAINER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline void *tmb_list_load(const void *at) {
  void *x;
  memcpy(&x, at, sizeof x);
  return x;
}

static inline void tmb_list_store(void *at, const void *x) {
  memcpy(at, &x, sizeof x);
}

static inline void tmb_list_push(void *at, void *x, void *next) {
  tmb_list_store(next, tmb_list_load(at));
  tmb_list_store(at, x);
}

static inline void *tmb_list_pop(void *at, size_t offset) {
  char *x = tmb_list_load(at);
  if (x) tmb_list_store(at, tmb_list_load(x + offset));
  return x;
}

static inline bool tmb_list_remove(void *at, const void *x, size_t offset) {
  char *in;
  while ((in = tmb_list_load(at)) != NULL && in != x) at = in + offset;
  return in && tmb_list_pop(at, offset);
}

static inline void tmb_list_append(void *first, void *last, void *x, size_t offset) {
  char *const before = tmb_list_load(first) ? tmb_list_load(last) : NULL;
  tmb_list_store((char *)x + offset, NULL);
  tmb_list_store(before ? before + offset : (char *)first, x);
  tmb_list_store(last, x);
}

static inline void tmb_list_extend(void *end, void *x, void *next) {
  tmb_list_store(next, NULL);
  tmb_list_store(tmb_list_load(end), x);
  tmb_list_store(end, next);
}

static inline void *tmb_list_find_end(void *at, size_t offset) {
  for (char *x; (x = tmb_list_load(at)) != NULL;) at = x + offset;
  return at;
}

/* The offset of `next` in the structs of a list, for the macros below. */
#define TMB_LIST_NEXT(at)      offsetof(__typeof__(**(at)), next)

/* Insert x before *at. With the address of the list: at its beginning. */
#define TMB_LIST_PUSH(at, x)   tmb_list_push(true ? (at) : &(x)->next, (x), &(x)->next)

/* Remove the struct *at. Returns it, or NULL if the list is empty or the cursor at its end. */
#define TMB_LIST_POP(at)       ((__typeof__(*(at)))tmb_list_pop((at), TMB_LIST_NEXT(at)))

/* Find x and remove it. Returns whether it was in the list. Cost: a step for each struct before. */
#define TMB_LIST_REMOVE(at, x) tmb_list_remove((at), true ? (x) : *(at), TMB_LIST_NEXT(at))

/* Append x to a queue. in,out first: NULL if the queue is empty; then *last is not read. */
#define TMB_QUEUE_ADD(first, last, x) \
 tmb_list_append(true ? (first) : (last), (last), true ? (x) : *(first), TMB_LIST_NEXT(first))

/* Append x to a queue whose owner keeps the cursor behind its last struct. in,out end: that cursor.
 * The owner resets the cursor when it removes the last struct. */
#define TMB_LIST_EXTEND(end, x) tmb_list_extend((end), true ? (x) : **(end), &(x)->next)

/* The cursor behind the last struct. Cost: a step for each struct. */
#define TMB_LIST_END(at)        ((__typeof__(at))tmb_list_find_end((at), TMB_LIST_NEXT(at)))

#endif
