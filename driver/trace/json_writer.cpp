#include "driver/trace/json_writer.hpp"

#include <fmt/format.h>

namespace datum::trace {

namespace {

/// The viewers want microseconds; three decimals keep the nanoseconds.
std::string us(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

}  // namespace

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      json += '\\';
    }
    json += code < 0x20 || code >= 0x7f ? '?' : letter;
  }
  return json + '"';
}

JsonWriter::JsonWriter(std::FILE* file) : file_(file) {
  std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", file_);
}

void JsonWriter::begin_object() {
  if (!first_) {
    std::fputs(",\n", file_);
  }
  first_ = false;
}

void JsonWriter::name_process(std::uint64_t process, std::string_view name, unsigned order) {
  begin_object();
  fmt::print(file_, R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}},)", process,
             quoted(name));
  fmt::print(file_,
             "\n"
             R"({{"ph": "M", "name": "process_sort_index", "pid": {}, "args": {{"sort_index": {}}}}})",
             process, order);
}

void JsonWriter::name_thread(Track track, std::string_view name, unsigned order) {
  begin_object();
  fmt::print(file_, R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}},)",
             track.process, track.thread, quoted(name));
  fmt::print(
      file_,
      "\n"
      R"({{"ph": "M", "name": "thread_sort_index", "pid": {}, "tid": {}, "args": {{"sort_index": {}}}}})",
      track.process, track.thread, order);
}

void JsonWriter::slice(Track track, std::string_view name, std::string_view category, std::uint64_t begin_ns,
                       std::uint64_t end_ns, std::string_view arguments) {
  begin_object();
  fmt::print(
      file_,
      R"({{"ph": "X", "name": {}, "cat": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      quoted(name), category, track.process, track.thread, us(begin_ns), us(end_ns - begin_ns), arguments);
}

void JsonWriter::counter(std::uint64_t process, std::string_view name, std::uint64_t at_ns,
                         std::uint64_t value) {
  begin_object();
  fmt::print(file_, R"({{"ph": "C", "name": {}, "pid": {}, "tid": 0, "ts": {}, "args": {{"value": {}}}}})",
             quoted(name), process, us(at_ns), value);
}

void JsonWriter::arrow(char phase, std::uint64_t id, Track track, std::uint64_t at_ns) {
  begin_object();
  fmt::print(
      file_,
      R"({{"ph": "{}", "name": "descriptor", "cat": "flow", "id": {}, "bp": "e", "pid": {}, "tid": {}, "ts": {}}})",
      phase, id, track.process, track.thread, us(at_ns));
}

void JsonWriter::life(char phase, std::uint64_t process, std::string_view name, std::uint64_t id,
                      std::uint64_t at_ns, std::string_view arguments) {
  begin_object();
  fmt::print(
      file_,
      R"({{"ph": "{}", "name": {}, "cat": "allocation", "id": "{:#x}", "pid": {}, "tid": 0, "ts": {}, "args": {{{}}}}})",
      phase, quoted(name), id, process, us(at_ns), arguments);
}

bool JsonWriter::finish(std::string_view arguments) {
  fmt::print(file_, "\n], \"otherData\": {{{}}}}}\n", arguments);
  return std::fflush(file_) == 0 && std::ferror(file_) == 0;
}

}  // namespace datum::trace
