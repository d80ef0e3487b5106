/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08.6: every GASNet-1 put, get, value and memset form, over sizes and misalignments; bytes
 * around the destination must stay as they were.
 *
 * Each rank works on the lower half of its own segment and on the upper half of the next rank's, so
 * that no two ranks touch the same bytes.
 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* ranks: 1 2 3 4 7 */
#include "legacy.h"

enum { AREA = 128 * 1024, GUARD = 64, SIZE_MAX_TESTED = 100000, GUARD_BYTE = 0xA5 };

static gasnet_node_t to; /* rank under test */
static char *remote;     /* our stretch there, as its owner sees it */
static char local_out[AREA], local_in[AREA];
static uint64_t seed = 1;

typedef void put_form(gasnet_node_t node, void *dest, void *src, size_t nbytes);
typedef void get_form(void *dest, gasnet_node_t node, void *src, size_t nbytes);

static void do_put(gasnet_node_t n, void *d, void *s, size_t b) {
  gasnet_put(n, d, s, b);
}
static void do_put_bulk(gasnet_node_t n, void *d, void *s, size_t b) {
  gasnet_put_bulk(n, d, s, b);
}
/* Non-bulk forms: the source may be overwritten as soon as the call returns. */
static void do_put_nb(gasnet_node_t n, void *d, void *s, size_t b) {
  const gasnet_handle_t handle = gasnet_put_nb(n, d, s, b);
  memset(s, 0x3c, b);
  gasnet_wait_syncnb(handle);
}
static void do_put_nb_bulk(gasnet_node_t n, void *d, void *s, size_t b) {
  gasnet_wait_syncnb(gasnet_put_nb_bulk(n, d, s, b));
}
static void do_put_nbi(gasnet_node_t n, void *d, void *s, size_t b) {
  gasnet_put_nbi(n, d, s, b);
  memset(s, 0x3c, b);
  gasnet_wait_syncnbi_puts();
}
static void do_put_nbi_bulk(gasnet_node_t n, void *d, void *s, size_t b) {
  gasnet_put_nbi_bulk(n, d, s, b);
  gasnet_wait_syncnbi_all();
}
static void do_get(void *d, gasnet_node_t n, void *s, size_t b) {
  gasnet_get(d, n, s, b);
}
static void do_get_bulk(void *d, gasnet_node_t n, void *s, size_t b) {
  gasnet_get_bulk(d, n, s, b);
}
static void do_get_nb(void *d, gasnet_node_t n, void *s, size_t b) {
  gasnet_wait_syncnb(gasnet_get_nb(d, n, s, b));
}
static void do_get_nb_bulk(void *d, gasnet_node_t n, void *s, size_t b) {
  gasnet_wait_syncnb(gasnet_get_nb_bulk(d, n, s, b));
}
static void do_get_nbi(void *d, gasnet_node_t n, void *s, size_t b) {
  gasnet_get_nbi(d, n, s, b);
  gasnet_wait_syncnbi_gets();
}
static void do_get_nbi_bulk(void *d, gasnet_node_t n, void *s, size_t b) {
  gasnet_get_nbi_bulk(d, n, s, b);
  gasnet_wait_syncnbi_all();
}

static put_form *const puts_tested[] = {do_put,         do_put_bulk, do_put_nb,
                                        do_put_nb_bulk, do_put_nbi,  do_put_nbi_bulk};
static get_form *const gets_tested[] = {do_get,         do_get_bulk, do_get_nb,
                                        do_get_nb_bulk, do_get_nbi,  do_get_nbi_bulk};
enum { FORMS = 6 };

/* Our stretch, fetched whole; the guards around [at, at + nbytes) must hold GUARD_BYTE. */
static const char *fetch_guarded(size_t at, size_t nbytes) {
  gasnet_get_bulk(local_in, to, remote + at - GUARD, nbytes + 2 * GUARD);
  CHECK_EQ(fill_diff(local_in, GUARD, GUARD_BYTE), GUARD);
  CHECK_EQ(fill_diff(local_in + GUARD + nbytes, GUARD, GUARD_BYTE), GUARD);
  return local_in + GUARD;
}

static void set_guards(size_t at, size_t nbytes) {
  gasnet_memset(to, remote + at - GUARD, GUARD_BYTE, nbytes + 2 * GUARD);
}

static void put_one(put_form *put, size_t misalign, size_t nbytes) {
  const size_t at = GUARD + misalign, from = 8 - misalign;
  set_guards(at, nbytes);
  seed++;
  pattern_fill(local_out + from, nbytes, seed);
  put(to, remote + at, local_out + from, nbytes);
  CHECK_BYTES(fetch_guarded(at, nbytes), nbytes, seed);
}

static void get_one(get_form *get, size_t misalign, size_t nbytes) {
  const size_t at = GUARD + misalign, into = GUARD + 8 - misalign;
  seed++;
  pattern_fill(local_out, nbytes, seed);
  gasnet_put_bulk(to, remote + at, local_out, nbytes);
  memset(local_in, GUARD_BYTE, nbytes + 3 * GUARD);
  get(local_in + into, to, remote + at, nbytes);
  CHECK_BYTES(local_in + into, nbytes, seed);
  CHECK_EQ(fill_diff(local_in, into, GUARD_BYTE), into);
  CHECK_EQ(fill_diff(local_in + into + nbytes, GUARD, GUARD_BYTE), GUARD);
}

static void test_put_get(void) {
  const size_t sizes[] = {
      0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 31, 64, 100, 4095, 4096, 65537, SIZE_MAX_TESTED};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t misalign = 0; misalign<8; misalign += sizes[i]> 100 ? 3 : 1)
      for (int form = 0; form < FORMS; form++) {
        put_one(puts_tested[form], misalign, sizes[i]);
        get_one(gets_tested[form], misalign, sizes[i]);
      }
}

/* ---- values */
static void put_val_form(int form, void *dest, gasnet_register_value_t value, size_t nbytes) {
  if (form == 0) gasnet_put_val(to, dest, value, nbytes);
  if (form == 1) gasnet_wait_syncnb(gasnet_put_nb_val(to, dest, value, nbytes));
  if (form == 2) {
    gasnet_put_nbi_val(to, dest, value, nbytes);
    gasnet_wait_syncnbi_puts();
  }
}

static void test_values(void) {
  const gasnet_register_value_t value = UINT64_C(0xF1E2D3C4B5A69788);
  for (size_t nbytes = 1; nbytes <= 8; nbytes++) {
    const gasnet_register_value_t low =
        nbytes == 8 ? value : value & ((UINT64_C(1) << (8 * nbytes)) - 1);
    for (size_t misalign = 0; misalign < 8; misalign++)
      for (int form = 0; form < 3; form++) {
        char *const dest = remote + GUARD + misalign;
        set_guards(GUARD + misalign, nbytes);
        put_val_form(form, dest, value, nbytes);
        (void)fetch_guarded(GUARD + misalign, nbytes);
        CHECK_EQ(gasnet_get_val(to, dest, nbytes), low);
        CHECK_EQ(gasnet_wait_syncnb_valget(gasnet_get_nb_val(to, dest, nbytes)), low);
      }
  }
  /* Native order: the bytes are those of a C integer. */
  const uint32_t as_int = 0x01020304;
  uint32_t back = 0;
  gasnet_put_val(to, remote, as_int, sizeof as_int);
  gasnet_get(&back, to, remote, sizeof back);
  CHECK_EQ(back, as_int);
}

/* Many value gets at once, synchronised in another order than started. */
static void test_valget_many(void) {
  enum { COUNT = 500 };
  gasnet_valget_handle_t handle[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint32_t word = i * 2654435761u;
    gasnet_put(to, remote + 4 * i, (void *)(uintptr_t)&word, 4);
  }
  for (int i = 0; i < COUNT; i++) handle[i] = gasnet_get_nb_val(to, remote + 4 * i, 4);
  for (int i = 0; i < COUNT; i++) {
    const uint32_t which = (uint32_t)(i * 7) % COUNT;
    CHECK_EQ(gasnet_wait_syncnb_valget(handle[which]), which * 2654435761u);
  }
}

/* ---- memset */
static void memset_form(int form, void *dest, int value, size_t nbytes) {
  if (form == 0) gasnet_memset(to, dest, value, nbytes);
  if (form == 1) gasnet_wait_syncnb(gasnet_memset_nb(to, dest, value, nbytes));
  if (form == 2) {
    gasnet_memset_nbi(to, dest, value, nbytes);
    gasnet_wait_syncnbi_puts();
  }
  if (form == 3) { /* in an access region */
    gasnet_begin_nbi_accessregion();
    gasnet_memset_nbi(to, dest, value, nbytes);
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  }
}

static void test_memset(void) {
  const size_t sizes[] = {0, 1, 7, 8, 4096, 8193, SIZE_MAX_TESTED};
  const int values[] = {0, 0x5a, 255, -1, 0x1234};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
      for (int form = 0; form < 4; form++) {
        set_guards(GUARD + v, sizes[s]);
        memset_form(form, remote + GUARD + v, values[v], sizes[s]);
        CHECK_EQ(fill_diff(fetch_guarded(GUARD + v, sizes[s]), sizes[s], values[v] & 255),
                 sizes[s]);
      }
}

/* Forms that return nothing are void expressions; puts take a const source. */
static void test_expressions(void) {
  static const char text[] = "constant";
  const int flip = (int)seed & 1;
  flip ? gasnet_put(to, remote, (void *)(uintptr_t)text, sizeof text)
       : gasnet_put_bulk(to, remote, text, sizeof text);
  (gasnet_memset(to, remote + 16, 1, 1), gasnet_put_nbi(to, remote + 17, text, 1),
   gasnet_put_nbi_val(to, remote + 18, 2, 1), gasnet_wait_syncnbi_all());
  char back[19] = "";
  gasnet_get(back, to, remote, sizeof back);
  CHECK_STR(back, text);
  CHECK_EQ(back[16], 1);
  CHECK_EQ(back[17], 'c');
  CHECK_EQ(back[18], 2);
}

static void test_all(gasnet_node_t node) {
  to = node;
  remote = (char *)g1.seg[to].addr + (to == g1.rank ? 0 : AREA);
  test_put_get();
  test_values();
  test_valget_many();
  test_memset();
  test_expressions();
}

int main(int argc, char **argv) {
  g1_start(&argc, &argv, NULL, 0, 2 * AREA);
  test_all(g1.rank);
  test_all((g1.rank + 1) % g1.size);
  return g1_finish();
}
