// Has the fault that its argument names, or none: what memcheck is there to find.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

// Where no compiler follows it.
unsigned char* volatile memory = nullptr;

void use_what_was_never_set() {
  memory = static_cast<unsigned char*>(std::malloc(16));
  std::puts(memory[3] == 7 ? "seven" : "another");
  std::free(memory);
}

void read_behind_the_end() {
  memory = static_cast<unsigned char*>(std::calloc(16, 1));
  std::printf("%d\n", memory[16]);
  std::free(memory);
}

void lose_memory() {
  memory = static_cast<unsigned char*>(std::malloc(16));
  std::memset(memory, 1, 16);
  memory = nullptr;
}

void lose_an_object() {
  memory = new unsigned char[16]{};
  memory = nullptr;
}

}  // namespace

int main(int count, char** values) {
  const std::string_view fault = count > 1 ? values[1] : "none";
  if (fault == "unset") {
    use_what_was_never_set();
  } else if (fault == "behind") {
    read_behind_the_end();
  } else if (fault == "lost") {
    lose_memory();
  } else if (fault == "lost_object") {
    lose_an_object();
  }
  return 0;
}
