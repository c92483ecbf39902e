#include "sim/rtl/make_rtl_engine.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>
#include <datum/base/unique_fd.hpp>

#include "sim/board/design_library.hpp"
#include "sim/rtl/design_board.hpp"
#include "sim/rtl/rtl_engine.hpp"
#include "sim/rtl/waveform_files.hpp"

namespace datum::sim {

namespace {

/// Verilator reports nothing when it cannot write, so it is tried before. Nothing of an earlier run stays,
/// for a window that never comes would leave it there. Coverage may go into a folder.
Status check_writable(std::string_view option, const std::string& file) {
  if (file.empty()) {
    return {};
  }
  const UniqueFd folder(::open(file.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid() && option == "coverage" && ::access(file.c_str(), W_OK) == 0) {
    return {};
  }
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd.valid()) {
    return {};
  }
  const int number = errno;
  return Error{ErrorCode::invalid_argument,
               number,
               fmt::format("board option '{}={}': the file cannot be written: {}", option, shown_text(file),
                           std::strerror(number)),
               {}};
}

}  // namespace

Result<std::unique_ptr<Engine>> make_rtl_engine(const EngineSurroundings& surroundings) {
  if (auto status = check_writable(waveform_file_option, surroundings.options.waveform.file); !status) {
    return std::move(status).error();
  }
  const WaveformOptions& waveform = surroundings.options.waveform;
  // One that would write no other file leaves those beside it alone.
  if (!waveform.file.empty() && (windows_of(waveform) > 1 || waveform.last_cycles)) {
    remove_earlier_files(surroundings.options.waveform.file);
  }
  if (auto status = check_writable("coverage", surroundings.options.coverage_file); !status) {
    return std::move(status).error();
  }
  if (!surroundings.options.design.empty()) {
    const auto design = load_design(surroundings.options.design);
    if (!design) {
      return design.error();
    }
    return std::unique_ptr<Engine>(std::make_unique<RtlEngine>(
        surroundings,
        [made = *design, instrumented = surroundings.options.instrumented](
            const VerilatedSettings& settings) { return make_design_board(*made, settings, instrumented); }));
  }
  return std::unique_ptr<Engine>(std::make_unique<RtlEngine>(
      surroundings, surroundings.options.instrumented ? make_instrumented_board : make_fast_board));
}

}  // namespace datum::sim
