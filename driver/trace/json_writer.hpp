// The objects of a timeline, one after the other.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace datum::trace {

/// Where an object stands: a process and a thread in the viewer's sense.
struct Track {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
};

/// `text` between quotation marks, as JSON wants it; bytes that are no ASCII become '?'.
[[nodiscard]] std::string quoted(std::string_view text);

/// `{"traceEvents": [` at once, the end in finish().
class JsonWriter {
 public:
  explicit JsonWriter(std::FILE* file);

  void name_process(std::uint64_t process, std::string_view name, unsigned order);
  void name_thread(Track track, std::string_view name, unsigned order);
  /// `arguments` is the inside of an object: `"a": 1, "b": "x"`.
  void slice(Track track, std::string_view name, std::string_view category, std::uint64_t begin_ns,
             std::uint64_t end_ns, std::string_view arguments);
  void counter(std::uint64_t process, std::string_view name, std::uint64_t at_ns, std::uint64_t value);
  /// `phase`: 's' start, 't' step, 'f' end. It belongs to the slice of the track that is there at that time.
  void arrow(char phase, std::uint64_t id, Track track, std::uint64_t at_ns);
  /// `phase`: 'b' begin, 'e' end of something that outlives calls.
  void life(char phase, std::uint64_t process, std::string_view name, std::uint64_t id, std::uint64_t at_ns,
            std::string_view arguments);
  /// `arguments` as above, about the trace as a whole. False: something could not be written.
  bool finish(std::string_view arguments);

 private:
  void begin_object();

  std::FILE* file_;
  bool first_ = true;
};

}  // namespace datum::trace
