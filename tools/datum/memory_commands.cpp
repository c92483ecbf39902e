// datum mem: read, write, dump, fill, walk.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <datum/base/shown_text.hpp>

#include "tools/datum/byte_text.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/memory_runs.hpp"
#include "tools/datum/output.hpp"
#include "tools/datum/page_walk.hpp"

namespace datum::tool {

namespace {

struct MemoryChoice : BoardChoice {
  std::string address;
  std::string bytes = "256";
  std::string data;
  std::string file;
  unsigned ordinal = 0;
  unsigned space = 0;
  bool is_virtual = false;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// "-" is standard input or output, which stays open.
Result<File> open_file(const std::string& name, const char* mode) {
  if (name == "-") {
    return File(*mode == 'r' ? stdin : stdout, [](std::FILE* file) { return std::fflush(file); });
  }
  File file(std::fopen(name.c_str(), mode), [](std::FILE* open) { return std::fclose(open); });
  if (file == nullptr) {
    const int number = errno;
    return Error{ErrorCode::not_available,
                 number,
                 fmt::format("'{}' cannot be opened: {}", shown_text(name), std::strerror(number)),
                 {}};
  }
  return file;
}

/// What a command works on.
struct Target {
  OpenBoard& board;
  DeviceMemory memory;
  MemoryPlace place;
};

Result<MemoryPlace> place_of(const MemoryChoice& choice) {
  const Result<std::uint64_t> address = parse_size(choice.address);
  if (!address) {
    return address.error();
  }
  return MemoryPlace{*address, choice.ordinal,
                     choice.is_virtual ? std::optional(choice.space) : std::nullopt};
}

/// Opens board and memory and runs `command` on them; what fails is told. Returns the exit status.
template <class Command>
int with_memory(const MemoryChoice& choice, const Command& command) {
  const Result<MemoryPlace> place = place_of(choice);
  if (!place) {
    return tell_failure(place.error(), choice.json);
  }
  return with_board(choice, [&](OpenBoard& board) {
    Result<DeviceMemory> memory = DeviceMemory::create(board);
    if (!memory) {
      return tell_failure(memory.error(), choice.json);
    }
    Target target{board, std::move(memory).value(), *place};
    const Status done = command(target);
    return done ? exit_well : tell_failure(done.error(), choice.json);
  });
}

Result<std::vector<board::DeviceRange>> runs_of(Target& target, const std::string& bytes) {
  const Result<std::uint64_t> count = parse_size(bytes);
  if (!count) {
    return count.error();
  }
  return find_runs(target.board, target.memory, target.place, *count);
}

void tell_done(const Target& target, const char* what, std::uint64_t bytes, bool json) {
  if (json) {
    print_json({{"board", target.board.address()}, {what, bytes}});
  }
}

std::uint64_t sum_of(const std::vector<board::DeviceRange>& runs) {
  std::uint64_t sum = 0;
  for (const board::DeviceRange& run : runs) {
    sum += run.bytes;
  }
  return sum;
}

/// Lines of 16 bytes from pieces of any length.
class DumpPrinter {
 public:
  explicit DumpPrinter(std::uint64_t address) : address_(address) {}

  void take(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), line_bytes - pending_.size());
      pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
      bytes = bytes.subspan(count);
      if (pending_.size() == line_bytes) {
        finish_line();
      }
    }
  }

  void finish_line() {
    if (!pending_.empty()) {
      fmt::print("{}\n", dump_line(address_, pending_));
      address_ += pending_.size();
      pending_.clear();
    }
  }

 private:
  static constexpr std::size_t line_bytes = 16;
  std::uint64_t address_;
  std::vector<std::byte> pending_;
};

int read_memory(const MemoryChoice& choice) {
  return with_memory(choice, [&](Target& target) -> Status {
    const auto runs = runs_of(target, choice.bytes);
    if (!runs) {
      return runs.error();
    }
    std::string data;
    DumpPrinter printer(target.place.address);
    Status read = read_runs(target.memory, *runs, [&](std::span<const std::byte> bytes) -> Status {
      if (choice.json) {
        data += hex_bytes(bytes);
      } else {
        printer.take(bytes);
      }
      return {};
    });
    printer.finish_line();
    if (read && choice.json) {
      print_json({{"board", target.board.address()}, {"address", target.place.address}, {"data", data}});
    }
    return read;
  });
}

int dump_memory(const MemoryChoice& choice) {
  return with_memory(choice, [&](Target& target) -> Status {
    const auto runs = runs_of(target, choice.bytes);
    if (!runs) {
      return runs.error();
    }
    Result<File> file = open_file(choice.file, "wb");
    if (!file) {
      return std::move(file).error();
    }
    Status read = read_runs(target.memory, *runs, [&](std::span<const std::byte> bytes) -> Status {
      if (std::fwrite(bytes.data(), 1, bytes.size(), file->get()) != bytes.size()) {
        return make_error(
            ErrorCode::not_available,
            fmt::format("'{}' cannot be written: {}", shown_text(choice.file), std::strerror(errno)));
      }
      return {};
    });
    if (read && std::fflush(file->get()) != 0) {
      return make_error(ErrorCode::not_available, fmt::format("'{}' cannot be written: {}",
                                                              shown_text(choice.file), std::strerror(errno)));
    }
    if (read && choice.file != "-") {
      tell_done(target, "dumped_bytes", sum_of(*runs), choice.json);
    }
    return read;
  });
}

Result<std::vector<std::byte>> content_of(const std::string& name) {
  Result<File> file = open_file(name, "rb");
  if (!file) {
    return std::move(file).error();
  }
  std::vector<std::byte> content;
  std::vector<std::byte> piece(1U << 16U);
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(piece.data(), 1, piece.size(), file->get());
    content.insert(content.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
  }
  if (std::ferror(file->get()) != 0 || content.empty()) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is empty, or cannot be read", shown_text(name)));
  }
  return content;
}

int write_memory(const MemoryChoice& choice) {
  const auto data = choice.file.empty() ? parse_bytes(choice.data) : content_of(choice.file);
  if (!data) {
    return tell_failure(data.error(), choice.json);
  }
  return with_memory(choice, [&](Target& target) -> Status {
    const auto runs = find_runs(target.board, target.memory, target.place, data->size());
    if (!runs) {
      return runs.error();
    }
    std::span<const std::byte> left = *data;
    Status written = write_runs(target.memory, *runs, [&](std::span<std::byte> piece) -> Status {
      std::copy_n(left.begin(), piece.size(), piece.begin());
      left = left.subspan(piece.size());
      return {};
    });
    if (written) {
      tell_done(target, "written_bytes", data->size(), choice.json);
    }
    return written;
  });
}

int fill_memory(const MemoryChoice& choice) {
  const auto pattern = parse_bytes(choice.data);
  if (!pattern) {
    return tell_failure(pattern.error(), choice.json);
  }
  return with_memory(choice, [&](Target& target) -> Status {
    const auto runs = runs_of(target, choice.bytes);
    if (!runs) {
      return runs.error();
    }
    std::size_t next = 0;
    Status filled = write_runs(target.memory, *runs, [&](std::span<std::byte> piece) -> Status {
      for (std::byte& byte : piece) {
        byte = (*pattern)[next];
        next = (next + 1) % pattern->size();
      }
      return {};
    });
    if (filled) {
      tell_done(target, "filled_bytes", sum_of(*runs), choice.json);
    }
    return filled;
  });
}

int walk_address(const MemoryChoice& choice) {
  return with_memory(choice, [&](Target& target) -> Status {
    const Result<WalkEnd> end =
        walk(target.board, target.memory, choice.space, DeviceVa{target.place.address});
    if (!end) {
      return end.error();
    }
    const std::uint64_t at = end->host ? raw(end->iova) : end->device.offset_bytes;
    if (choice.json) {
      nlohmann::ordered_json object = {{"board", target.board.address()},
                                       {"space", choice.space},
                                       {"virtual", fmt::format("{:#x}", target.place.address)},
                                       {"host", end->host},
                                       {"address", fmt::format("{:#x}", at)},
                                       {"writable", end->writable},
                                       {"bytes_to_end_of_page", end->bytes}};
      if (!end->host) {
        object["ordinal"] = end->device.ordinal;
      }
      print_json(object);
    } else {
      fmt::print(
          "{:#x} in space {}: {} {:#x}, {}, {} to the end of its page\n", target.place.address, choice.space,
          end->host ? "host memory, IOVA" : fmt::format("device memory {}, address", end->device.ordinal), at,
          end->writable ? "writable" : "read-only", bytes_text(end->bytes));
    }
    return {};
  });
}

constexpr const char* mem_examples = R"(Examples:
  datum mem read 0x1000 64
  datum mem write 0x1000 deadbeef
  datum mem dump 0 16M --output memory.bin --board vfio:0000:03:00.0
  datum mem fill 0 1M a55a --ordinal 1
  datum mem walk 0x7f0000001000 --space 1
  datum mem read 0x7f0000001000 64 --space 1

ADDRESS is one of the board's memory (ordinal 0: DRAM, 1: on-chip), or with --space a virtual one of that address space.
A simulated board of this process (rtl:, model:) is a new one for each command.)";

}  // namespace

void add_memory_commands(CLI::App& app, int& status) {
  const auto choice = std::make_shared<MemoryChoice>();
  CLI::App* const mem = app.add_subcommand("mem", "a board's own memory, by address");
  mem->footer(mem_examples);
  mem->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, int (*run)(const MemoryChoice&)) {
    CLI::App* const command = mem->add_subcommand(name, description);
    command->add_option("ADDRESS", choice->address, "where; 0x1000, 4096, 1M")->required();
    command->callback([choice, command, &status, run] {
      choice->is_virtual = command->count("--space") > 0;
      status = run(*choice);
    });
    add_board_options(*command, *choice);
    return command;
  };
  const auto bytes = [&](CLI::App* command) {
    return command->add_option("BYTES", choice->bytes, "how many; 64, 0x40, 1M");
  };
  CLI::App* const read = add("read", "show bytes", &read_memory);
  bytes(read)->capture_default_str();
  CLI::App* const write = add("write", "write bytes", &write_memory);
  CLI::Option* const data = write->add_option("DATA", choice->data, "bytes in hexadecimal, as in deadbeef");
  write->add_option("--file", choice->file, "write the content of a file; -: standard input")->excludes(data);
  CLI::App* const dump = add("dump", "copy bytes into a file", &dump_memory);
  bytes(dump)->required();
  dump->add_option("-o,--output", choice->file, "the file; -: standard output")->required();
  CLI::App* const fill = add("fill", "fill with a pattern", &fill_memory);
  bytes(fill)->required();
  fill->add_option("PATTERN", choice->data, "bytes in hexadecimal, repeated")->required();
  for (CLI::App* command : {read, write, dump, fill}) {
    CLI::Option* const space =
        command->add_option("--space", choice->space, "ADDRESS is a virtual one of this address space");
    command->add_option("--ordinal", choice->ordinal, "which memory: 0 DRAM, 1 on-chip")->excludes(space);
  }
  CLI::App* const walk = add("walk", "where a virtual address leads", &walk_address);
  walk->add_option("--space", choice->space, "the address space")->required();
}

}  // namespace datum::tool
