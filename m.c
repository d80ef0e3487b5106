#include <stdio.h>
int main(){
#ifdef __FAST_MATH__
puts("fast");
#endif
#ifdef __AVX2__
puts("avx2");
#endif
#ifdef __OPTIMIZE__
puts("opt");
#endif
#ifdef _OPENMP
puts("omp");
#endif
#ifdef __PIE__
puts("pie");
#endif
#ifdef __NO_SIGNED_ZEROS__
puts("nsz");
#endif
#ifdef __STRICT_ANSI__
puts("ansi");
#endif
return 0;}
