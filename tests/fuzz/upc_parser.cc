// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzer: any text through upc1, from the lexer to the C that it writes. The first byte chooses the
 * options, the rest is the preprocessed source. Nothing may crash, hang or be undefined.
 */
#include "../../upc/compiler/gen/gen.h"

#include <cstdio>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere = nullptr;
  if (!nowhere) stderr = nowhere = fopen("/dev/null", "w"); // messages are not of interest
  if (size < 2) return 0;
  Options options;
  options.threads = data[0] & 1 ? 3 : 0;
  options.optimise = (data[0] & 2) != 0;
  options.pedantic = (data[0] & 4) != 0;
  pts_form() = data[0] & 8 ? PtsForm{16, (1L << 31) - 1} : PtsForm();
  Source source(std::string(reinterpret_cast<const char *>(data) + 1, size - 1), "/upc");
  Parser parser(source, options);
  Generator generator(source, options);
  use_generator(&generator);
  Writer writer(source);
  while (Node *n = parser.external()) writer.write(generator.external(n));
  writer.write(generator.end_of_file());
  return 0;
}
