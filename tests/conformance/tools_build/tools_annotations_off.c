/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Annotations keep their forms with every feature switched off (API reference 09, section 8). */
#define GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE         0
#define GASNETT_USE_GCC_ATTRIBUTE_NOINLINE             0
#define GASNETT_USE_GCC_ATTRIBUTE_MALLOC               0
#define GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT     0
#define GASNETT_USE_GCC_ATTRIBUTE_USED                 0
#define GASNETT_USE_GCC_ATTRIBUTE_NORETURN             0
#define GASNETT_USE_GCC_ATTRIBUTE_PURE                 0
#define GASNETT_USE_GCC_ATTRIBUTE_CONST                0
#define GASNETT_USE_GCC_ATTRIBUTE_HOT                  0
#define GASNETT_USE_GCC_ATTRIBUTE_COLD                 0
#define GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED           0
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT               0
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR       0
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG   0
#define GASNETT_USE_BUILTIN_CONSTANT_P                 0
#define GASNETT_USE_BUILTIN_PREFETCH                   0
#define GASNETT_USE_BUILTIN_EXPECT                     0
#define GASNETT_USE_BUILTIN_UNREACHABLE                0
#define GASNETT_USE_BUILTIN_ASSUME                     0
#define GASNETT_USE_ASSUME                             0
#define GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH        0
#define GASNETT_USE_CXX11_ATTRIBUTE_CLANG__FALLTHROUGH 0
#define GASNETT_USE_RESTRICT                           0
#define GASNETT_USE_RESTRICT_ON_TYPEDEFS               0
#define GASNETT_USE_CTYPE_WRAPPERS                     0

#include "tools_forms.h"

#if GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC
# pragma GCC diagnostic push
# pragma GCC diagnostic ignored "-Wunused-function"
static int forms_unused(void) {
  return 1;
}
# pragma GCC diagnostic pop
#else
# error "gcc and clang have the diagnostic pragma"
#endif

int main(void) {
  forms_test();
  CHECK(gasnett_isdigit('7') && !gasnett_isdigit('x') && gasnett_toupper('a') == 'A');
  return check_done();
}
