// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lexer, and error messages with the line of the source.
 *
 * Called by main.cc once, and for messages by the parser. Calls: the C library. Invariants: the
 * text of a token is a view into the text of the Source, which is never changed afterwards.
 */
#include "tree/source.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <unordered_map>

namespace {

struct Word {
  const char *text;
  Kw kw;
};

const Word words[] = {
    {"void", KwType},
    {"char", KwType},
    {"short", KwType},
    {"int", KwType},
    {"long", KwType},
    {"float", KwType},
    {"double", KwType},
    {"signed", KwType},
    {"unsigned", KwType},
    {"__signed__", KwType},
    {"__signed", KwType},
    {"_Bool", KwType},
    {"_Complex", KwType},
    {"__complex__", KwType},
    {"__complex", KwType},
    {"__int128", KwType},
    {"__int128_t", KwType},
    {"__uint128_t", KwType},
    {"_Float16", KwType},
    {"_Float32", KwType},
    {"_Float64", KwType},
    {"_Float128", KwType},
    {"_Float32x", KwType},
    {"_Float64x", KwType},
    {"__float128", KwType},
    {"__float80", KwType},
    {"__bf16", KwType},
    {"__builtin_va_list", KwType},
    {"_BitInt", KwType},
    {"_Decimal32", KwType},
    {"_Decimal64", KwType},
    {"_Decimal128", KwType},
    {"typedef", KwStorage},
    {"extern", KwStorage},
    {"static", KwStorage},
    {"auto", KwStorage},
    {"register", KwStorage},
    {"_Thread_local", KwStorage},
    {"__thread", KwStorage},
    {"const", KwQualifier},
    {"__const", KwQualifier},
    {"__const__", KwQualifier},
    {"volatile", KwQualifier},
    {"__volatile", KwQualifier},
    {"__volatile__", KwQualifier},
    {"restrict", KwQualifier},
    {"__restrict", KwQualifier},
    {"__restrict__", KwQualifier},
    {"_Atomic", KwQualifier},
    {"inline", KwInline},
    {"__inline", KwInline},
    {"__inline__", KwInline},
    {"_Noreturn", KwInline},
    {"struct", KwStruct},
    {"union", KwUnion},
    {"enum", KwEnum},
    {"typeof", KwTypeof},
    {"__typeof__", KwTypeof},
    {"__typeof", KwTypeof},
    {"__typeof_unqual__", KwTypeof},
    {"__typeof_unqual", KwTypeof},
    {"__auto_type", KwAutoType},
    {"__attribute__", KwAttribute},
    {"__attribute", KwAttribute},
    {"asm", KwAsm},
    {"__asm__", KwAsm},
    {"__asm", KwAsm},
    {"_Alignas", KwAlignas},
    {"_Alignof", KwAlignof},
    {"__alignof__", KwAlignof},
    {"__alignof", KwAlignof},
    {"sizeof", KwSizeof},
    {"__extension__", KwExtension},
    {"_Static_assert", KwStaticAssert},
    {"if", KwStatement},
    {"else", KwStatement},
    {"while", KwStatement},
    {"do", KwStatement},
    {"for", KwStatement},
    {"switch", KwStatement},
    {"case", KwStatement},
    {"default", KwStatement},
    {"return", KwStatement},
    {"break", KwStatement},
    {"continue", KwStatement},
    {"goto", KwStatement},
    {"__label__", KwLabel},
    {"_Generic", KwGeneric},
    {"__real__", KwRealImag},
    {"__imag__", KwRealImag},
    {"__real", KwRealImag},
    {"__imag", KwRealImag},
};

const Word upc_words[] = {
    {"shared", KwShared},
    {"strict", KwStrict},
    {"relaxed", KwRelaxed},
    {"upc_barrier", KwUpcStatement},
    {"upc_notify", KwUpcStatement},
    {"upc_wait", KwUpcStatement},
    {"upc_fence", KwUpcStatement},
    {"upc_forall", KwForall},
    {"upc_localsizeof", KwUpcSizeof},
    {"upc_blocksizeof", KwUpcSizeof},
    {"upc_elemsizeof", KwUpcSizeof},
    {"MYTHREAD", KwMyThread},
    {"THREADS", KwThreads},
    {"UPC_MAX_BLOCK_SIZE", KwMaxBlock},
};

// Additions of C23, for a C compiler whose options choose C23.
const Word c23_words[] = {
    {"bool", KwType},
    {"constexpr", KwStorage},
    {"thread_local", KwStorage},
    {"typeof_unqual", KwTypeof},
    {"alignas", KwAlignas},
    {"alignof", KwAlignof},
    {"static_assert", KwStaticAssert},
};

using WordMap = std::unordered_map<std::string_view, Kw>;

const WordMap &word_map(bool upc) {
  static const WordMap c = [] {
    WordMap m;
    for (const Word &w : words) m.emplace(w.text, w.kw);
    return m;
  }();
  static const WordMap both = [] {
    WordMap m = c;
    for (const Word &w : upc_words) m.emplace(w.text, w.kw);
    return m;
  }();
  return upc ? both : c;
}

const char *const puncts[] = {
    "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "*=",   "/=",  "%=",  "+=",  "-=", "&=", "^=", "|=", "##", "<:", ":>", "<%", "%>", "%:"};

bool name_start(char c) {
  return isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}

bool name_char(char c) {
  return name_start(c) || isdigit(static_cast<unsigned char>(c));
}

} // namespace

class Lexer {
public:
  explicit Lexer(Source &s) : s_(s), p_(s.text_.data()), end_(p_ + s.text_.size()) {
    file_ = find_file({"<stdin>", false, false, false});
  }

  void run() {
    while (next()) {}
    add(Tk::End, KwNone, p_, p_);
  }

private:
  bool next() {
    skip_space();
    if (p_ >= end_) return false;
    if (*p_ == '#' && at_line_start_) {
      directive();
      return true;
    }
    at_line_start_ = false;
    const char *b = p_;
    if (prefixed_literal()) {
      const Tk kind = literal(); // moves p_
      add(kind, KwNone, b, p_);
    } else if (name_start(*p_) || escaped_letter())
      name();
    else if (isdigit(static_cast<unsigned char>(*p_)) ||
             (*p_ == '.' && p_ + 1 < end_ && isdigit(static_cast<unsigned char>(p_[1]))))
      number();
    else
      punct();
    return true;
  }

  void skip_space() {
    space_ = false;
    while (p_ < end_ && (*p_ == ' ' || (*p_ >= '\t' && *p_ <= '\r'))) {
      if (*p_ == '\n') {
        line_++;
        line_begin_ = p_ + 1;
        at_line_start_ = true;
      }
      p_++;
      space_ = true;
    }
  }

  // \u00e9: GNU's preprocessor writes letters beyond ASCII so.
  bool escaped_letter() const {
    return *p_ == '\\' && p_ + 1 < end_ && (p_[1] == 'u' || p_[1] == 'U');
  }

  // A string or character constant begins here, maybe behind L, u8, u or U.
  bool prefixed_literal() const {
    const char *q = p_;
    if (*q == 'L' || *q == 'U')
      q++;
    else if (*q == 'u')
      q += q + 1 < end_ && q[1] == '8' ? 2 : 1;
    return q < end_ && (*q == '"' || *q == '\'');
  }

  Tk literal() {
    while (*p_ != '"' && *p_ != '\'') p_++;
    const char quote = *p_++;
    while (p_ < end_ && *p_ != quote && *p_ != '\n') p_ += *p_ == '\\' && p_ + 1 < end_ ? 2 : 1;
    if (p_ < end_ && *p_ == quote) p_++;
    return quote == '"' ? Tk::String : Tk::Char;
  }

  void name() {
    const char *b = p_;
    while (p_ < end_ && (name_char(*p_) || escaped_letter())) p_++;
    const WordMap &map = word_map(!c_code_ && !s_.files_[static_cast<size_t>(file_)].system);
    auto found = map.find(std::string_view(b, static_cast<size_t>(p_ - b)));
    add(Tk::Name, found == map.end() ? KwNone : found->second, b, p_);
  }

  void number() {
    const char *b = p_;
    while (p_ < end_) {
      if (strchr("eEpP", *p_) && p_ + 1 < end_ && (p_[1] == '+' || p_[1] == '-'))
        p_ += 2;
      else if (name_char(*p_) || *p_ == '.')
        p_++;
      else if (*p_ == '\'' && p_ + 1 < end_ && name_char(p_[1])) // C23: 1'000
        p_ += 2;
      else
        break;
    }
    add(Tk::Number, KwNone, b, p_);
  }

  // Digraphs are equivalent to the usual marks.
  static void spell_out(std::string_view &mark) {
    if (mark == "<:") mark = "[";
    if (mark == ":>") mark = "]";
    if (mark == "<%") mark = "{";
    if (mark == "%>") mark = "}";
  }

  void punct() {
    const char *b = p_;
    for (const char *t : puncts) {
      const size_t n = strlen(t);
      if (static_cast<size_t>(end_ - p_) >= n && memcmp(p_, t, n) == 0) {
        p_ += n;
        add(Tk::Punct, KwNone, b, p_);
        spell_out(s_.tokens_.back().text);
        return;
      }
    }
    p_++;
    add(Tk::Punct, KwNone, b, p_);
  }

  void add(Tk kind, Kw kw, const char *b, const char *e) {
    Token t{};
    t.kind = kind;
    t.kw = kw;
    t.space = space_;
    t.file = file_;
    t.line = line_;
    t.col = static_cast<int>(b - line_begin_) + 1;
    t.pragma = pending_ ? static_cast<int>(s_.pragmas_.size()) - pending_ : -1;
    t.pragma_count = pending_;
    t.text = std::string_view(b, static_cast<size_t>(e - b));
    pending_ = 0;
    s_.tokens_.push_back(t);
  }

  int find_file(const SourceFile &file) {
    for (size_t i = 0; i < s_.files_.size(); i++) {
      const SourceFile &f = s_.files_[i];
      if (f.name == file.name && f.system == file.system && f.quiet == file.quiet)
        return static_cast<int>(i);
    }
    s_.files_.push_back(file);
    return static_cast<int>(s_.files_.size()) - 1;
  }

  void directive() {
    const char *e = static_cast<const char *>(memchr(p_, '\n', static_cast<size_t>(end_ - p_)));
    if (!e) e = end_;
    const std::string text(p_, e);
    p_ = e;
    size_t i = 1;
    while (i < text.size() && isspace(static_cast<unsigned char>(text[i]))) i++;
    if (text.compare(i, 4, "line") == 0) i += 4;
    if (text.compare(i, 6, "pragma") == 0)
      pragma(text);
    else
      marker(text.substr(i));
  }

  void pragma(const std::string &text) {
    char a[32] = "", b[32] = "";
    sscanf(text.c_str(), "# %*s %31s %31s", a, b);
    if (sscanf(text.c_str(), "#pragma %31s %31s", a, b) >= 2 && strcmp(a, "upc") == 0) {
      if (strcmp(b, "c_code") == 0) c_code_ = true;
      if (strcmp(b, "upc_code") == 0) c_code_ = false;
    }
    if (strcmp(a, "tombolo") == 0 && strcmp(b, "unsigned_char") == 0) {
      s_.unsigned_char_ = true;
      return;
    }
    s_.pragmas_.push_back({text, file_, line_});
    pending_++;
  }

  // `12 "name" flags`: the next line is line 12 of that file. 1: entered, 2: returned to, 3:
  // system.
  void marker(const std::string &text) {
    const char *c = text.c_str();
    char *rest;
    const long line = strtol(c, &rest, 10);
    if (rest == c) return;
    while (*rest == ' ') rest++;
    if (*rest == '"') {
      std::string name;
      for (rest++; *rest && *rest != '"'; rest++) {
        if (*rest == '\\' && rest[1]) rest++;
        name += *rest;
      }
      flags(name, *rest ? rest + 1 : rest);
    }
    line_ = static_cast<int>(line) - 1;
  }

  void flags(const std::string &name, const char *rest) {
    const bool ours =
        !s_.upc_folder_.empty() && name.compare(0, s_.upc_folder_.size(), s_.upc_folder_) == 0;
    bool quiet = false;
    for (; *rest; rest++) {
      if (*rest == '3') quiet = true;
      if (*rest == '1') {
        saved_.push_back(c_code_);
        if (ours) c_code_ = false; // a header of UPC is not C, whoever includes it
      }
      if (*rest == '2' && !saved_.empty()) {
        c_code_ = saved_.back();
        saved_.pop_back();
      }
    }
    if (folder_.empty()) folder_ = folder_of(name); // the first file is the source
    if (folder_of(name) == folder_) quiet = false;  // found beside it by #include <>
    file_ = find_file({name, quiet && !ours, quiet, ours});
  }

  static std::string folder_of(const std::string &name) {
    const size_t slash = name.rfind('/');
    return slash == std::string::npos ? "." : name.substr(0, slash);
  }

  Source &s_;
  const char *p_, *end_, *line_begin_ = p_;
  int file_ = 0, line_ = 1, pending_ = 0;
  bool space_ = false, at_line_start_ = true, c_code_ = false;
  std::vector<bool> saved_;
  std::string folder_; // of the source
};

namespace {

bool is_one_of(const Token *t, std::initializer_list<const char *> texts) {
  return t && std::any_of(texts.begin(), texts.end(), [t](const char *s) { return t->is(s); });
}

// A qualifier stands in front of a type, a name, `*`, `[` or, at the end of a type name, `)`.
bool names_object(const Token *before, const Token &t, const Token &after) {
  if (is_one_of(before, {".", "->"})) return true;
  if (after.kind != Tk::Punct || is_one_of(&after, {"*", "[", "("})) return false;
  if (!is_one_of(&after, {")", ":", ","}) || !before) return true;
  if (before->kind == Tk::Punct) return !is_one_of(before, {"*", "]"});
  return t.kw != KwShared && before->kw != KwShared;
}

} // namespace

void Source::take_c23() {
  for (Token &t : tokens_)
    for (const Word &w : c23_words)
      if (t.kind == Tk::Name && t.kw == KwNone && t.text == w.text) t.kw = w.kw;
}

Source::Source(std::string text, std::string upc_folder)
    : text_(std::move(text)), upc_folder_(std::move(upc_folder)) {
  Lexer(*this).run();
  // C programs have variables and members with the names of UPC's qualifiers; [[ begins an
  // attribute.
  for (size_t i = 0; i + 1 < tokens_.size(); i++) {
    Token &t = tokens_[i];
    if (t.is("[") && tokens_[i + 1].is("[")) t.kw = KwAttribute;
    if (t.kw != KwShared && t.kw != KwStrict && t.kw != KwRelaxed) continue;
    if (names_object(i ? &tokens_[i - 1] : nullptr, t, tokens_[i + 1])) t.kw = KwNone;
  }
}

// The line of the source file, or nothing where it cannot be read.
std::string Source::line_of(const Token &t) const {
  std::ifstream in(file(t.file).name);
  std::string line;
  for (int i = 0; i < t.line && std::getline(in, line); i++) {}
  return in ? line : std::string();
}

namespace {

// Whether a text at a place of a line is part of a longer operator: the + of ++.
bool is_in_longer(const std::string &line, size_t at, std::string_view text) {
  static const char *const longer[] = {
      "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
      "||",  "*=",  "/=",  "%=", "+=", "-=", "&=", "^=", "|=", "/*", "*/", "//"};
  for (const std::string_view o : longer)
    for (size_t k = 0; k + text.size() <= o.size() && k <= at; k++)
      if (o.size() > text.size() && line.compare(at - k, o.size(), o) == 0 &&
          o.substr(k, text.size()) == text)
        return true;
  return false;
}

// Positions at which a token's text stands in a line as a whole word or operator.
std::vector<size_t> places_in(const std::string &line, std::string_view text) {
  std::vector<size_t> places;
  const bool word = name_char(text.front());
  for (size_t at = line.find(text); at != std::string::npos; at = line.find(text, at + 1)) {
    const size_t end = at + text.size();
    if (word && ((at && name_char(line[at - 1])) || (end < line.size() && name_char(line[end]))))
      continue;
    if (!word && is_in_longer(line, at, text)) continue;
    places.push_back(at);
  }
  return places;
}

} // namespace

// Column of a token in the source's line. Macros change columns, so the token's text is looked for
// in the line; a token from a macro gets the column of the token before it.
size_t Source::column_of(int token, const std::string &line) const {
  const Token &t = (*this)[token];
  const auto in_line = [&](int i) {
    return i >= 0 && i < size() && (*this)[i].file == t.file && (*this)[i].line == t.line;
  };
  const auto given = static_cast<size_t>(t.col) - 1;
  if (line.empty() || t.text.empty()) return given;
  for (int i = token; in_line(i); i--) {
    const std::string_view text = (*this)[i].text;
    const std::vector<size_t> places = places_in(line, text);
    if (places.empty()) continue;
    size_t before = 0;
    for (int k = i - 1; in_line(k); k--) before += (*this)[k].text == text;
    return places[std::min(before, places.size() - 1)];
  }
  return std::min(given, line.size());
}

void Source::report(int token, const char *kind, const std::string &message) {
  const Token &t = (*this)[token];
  const std::string line = line_of(t);
  const size_t at = column_of(token, line);
  fprintf(stderr, "%s:%d:%zu: %s: %s\n", file(t.file).name.c_str(), t.line, at + 1, kind,
          message.c_str());
  if (!line.empty() && at <= line.size()) {
    std::string caret;
    for (size_t i = 0; i < at; i++) caret += line[i] == '\t' ? '\t' : ' ';
    fprintf(stderr, "%5d | %s\n      | %s^\n", t.line, line.c_str(), caret.c_str());
  }
}

void Source::error(int token, const std::string &message) {
  errors_++;
  if (token == last_error_ && message == last_message_)
    return; // an object is checked more than once
  last_error_ = token, last_message_ = message;
  report(token, "error", message);
}

void Source::note(int token, const std::string &message) {
  if (!no_warnings_) report(token, "note", message);
}

void Source::warning(int token, const std::string &message) {
  if (errors_of_all_)
    error(token, message);
  else if (!no_warnings_)
    report(token, "warning", message);
}

void Source::warning(const Pragma &pragma, const std::string &message) {
  if (errors_of_all_) errors_++;
  if (errors_of_all_ || !no_warnings_)
    fprintf(stderr, "%s:%d:1: %s: %s\n", file(pragma.file).name.c_str(), pragma.line,
            errors_of_all_ ? "error" : "warning", message.c_str());
}
