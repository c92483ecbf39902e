#include "rtl_model/verilated_runtime/verilated_failure.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <verilated.h>

namespace {

/// What the model that this thread evaluates printed last. A model in a library has no business with the
/// application's standard output.
thread_local std::array<char, 1024> last_message{};

[[noreturn]] void fail(const char* filename, int line, const char* what) {
  std::string text = last_message.data();
  last_message[0] = '\0';
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  if (text.empty()) {
    text = what;
  }
  if (filename != nullptr && *filename != '\0' && text.find(filename) == std::string::npos) {
    text += std::string(" (") + filename + ":" + std::to_string(line) + ")";
  }
  throw datum::rtl_model::ModelFailure(text);
}

}  // namespace

int datum_verilated_print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(last_message.data(), last_message.size(), format, arguments);
  va_end(arguments);
  return length;
}

// Verilator's library calls these where VL_USER_STOP, VL_USER_FATAL and VL_USER_FINISH are defined.

void vl_stop(const char* filename, int line, const char* /*hierarchy*/) { fail(filename, line, "$stop"); }

void vl_fatal(const char* filename, int line, const char* /*hierarchy*/, const char* message) {
  if (message != nullptr && *message != '\0') {
    std::snprintf(last_message.data(), last_message.size(), "%s", message);
  }
  fail(filename, line, "$fatal");
}

void vl_finish(const char* filename, int line, const char* /*hierarchy*/) { fail(filename, line, "$finish"); }
