#include "tests/loader/call_record.hpp"

namespace datum::test {
namespace {

constinit thread_local const char* last = "";

}  // namespace

std::string_view last_call() noexcept { return last; }

void note_call(const char* function) noexcept { last = function; }

void forget_calls() noexcept { last = ""; }

}  // namespace datum::test
