// SPDX-License-Identifier: BSD-3-Clause
/*
 * Source text: the tokens of one preprocessed file, where each came from, and error messages.
 *
 * Owns: the text and its tokens, which live as long as the process. Called by the parser and the
 * generator. Calls: the C library. Invariants: tokens are numbered in order of the text; a pragma
 * is no token but belongs to the token behind it; line markers of the preprocessor ("# 12 "f.h" 3")
 * say the file and line of every token; UPC's words are keywords except in system headers and
 * behind `#pragma upc c_code`.
 */
#ifndef UPCC_SOURCE_H
#define UPCC_SOURCE_H

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

enum class Tk : uint8_t { End, Name, Number, String, Char, Punct };

// Keywords that the parser asks for by number; their text distinguishes the others.
enum Kw : uint8_t {
  KwNone, // an identifier
  KwType, // word of a basic type: int, unsigned, _Complex ...
  KwStorage,
  KwQualifier, // const, volatile, restrict, _Atomic without (
  KwShared,
  KwStrict,
  KwRelaxed,
  KwInline, // function specifiers
  KwStruct,
  KwUnion,
  KwEnum,
  KwTypeof,
  KwAutoType,
  KwAttribute,
  KwAsm,
  KwAlignas,
  KwAlignof,
  KwSizeof,
  KwExtension,
  KwStaticAssert,
  KwStatement, // if, while, return ...
  KwLabel,
  KwGeneric,
  KwRealImag,
  KwUpcStatement, // upc_barrier, upc_notify, upc_wait, upc_fence
  KwForall,
  KwUpcSizeof, // upc_localsizeof, upc_blocksizeof, upc_elemsizeof
  KwMyThread,
  KwThreads,
  KwMaxBlock,
};

struct Pragma {
  std::string text; // whole line, from "#pragma"
  int file, line;
};

struct Token {
  Tk kind;
  Kw kw;
  bool space; // white space in front
  int file, line, col;
  int pragma; // index of the first pragma in front, or -1
  int pragma_count;
  std::string_view text;

  bool is(std::string_view s) const { return (kind == Tk::Punct || kind == Tk::Name) && text == s; }
};

struct SourceFile {
  std::string name;
  bool system; // its text is C: UPC's words are identifiers
  bool quiet;  // the C compiler does not warn of it: a system header, or one of ours
  bool ours;   // one of the headers of UPC
};

// Thrown where the text cannot be parsed; the message has been kept, not printed.
struct SyntaxError : std::runtime_error {
  int token; // that cannot be parsed
  int place; // that the message names
  SyntaxError(int token, int place, const std::string &what)
      : std::runtime_error(what), token(token), place(place) {}
};

class Source {
public:
  // Splits text into tokens. `upc_folder`: headers under it are UPC although they are system
  // headers.
  Source(std::string text, std::string upc_folder);

  // Makes the words that C23 adds keywords.
  void take_c23();

  // Beyond the text: its end.
  const Token &operator[](int i) const {
    return tokens_[std::min(static_cast<size_t>(i), tokens_.size() - 1)];
  }
  int size() const { return static_cast<int>(tokens_.size()); }
  const SourceFile &file(int i) const { return files_[static_cast<size_t>(i)]; }
  const Pragma &pragma(int i) const { return pragmas_[static_cast<size_t>(i)]; }
  bool unsigned_char() const { return unsigned_char_; } // signedness of `char` on that processor
  bool in_system(int token) const { return file((*this)[token].file).system; }

  // Messages, as compilers write them. An error makes the exit status 1.
  void error(int token, const std::string &message);
  void warning(int token, const std::string &message);
  void warning(const Pragma &pragma, const std::string &message);
  void note(int token, const std::string &message);
  int errors() const { return errors_; }
  void set_warnings(bool none, bool are_errors) {
    no_warnings_ = none, errors_of_all_ = are_errors;
  }

private:
  friend class Lexer;
  void report(int token, const char *kind, const std::string &message);
  std::string line_of(const Token &t) const;
  size_t column_of(int token, const std::string &line) const;

  std::string text_, upc_folder_;
  std::vector<Token> tokens_;
  std::vector<SourceFile> files_;
  std::vector<Pragma> pragmas_;
  int errors_ = 0, last_error_ = -1; // of all; the token of the last one
  std::string last_message_;
  bool unsigned_char_ = false;
  bool no_warnings_ = false, errors_of_all_ = false;
};

#endif
