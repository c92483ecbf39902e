// datum view: a trace in a page that any browser shows.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <datum/base/result.hpp>
#include <datum/base/shown_text.hpp>

#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"
#include "tools/viewer/viewer_page.hpp"

namespace datum::tool {

namespace {

struct ViewChoice {
  std::string trace;
  std::string page;
  bool json = false;
};

Error failure(const std::string& file, std::string_view what, std::string hint = "") {
  return make_error(ErrorCode::invalid_argument, fmt::format("'{}' {}", shown_text(file), what),
                    std::move(hint));
}

Result<std::string> read_trace(const std::string& name) {
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && !file.eof()) {
    return failure(name, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (text.empty()) {
    return failure(name,
                   "is empty or no file: a process that is killed, or that ends by _exit, writes no trace");
  }
  const nlohmann::json content = nlohmann::json::parse(text, nullptr, false);
  const bool is_trace = content.is_array() || (content.is_object() && content.contains("traceEvents"));
  if (!is_trace) {
    return failure(name,
                   content.is_discarded() ? "is no JSON" : "has no list 'traceEvents', so it is no trace",
                   "DATUM_TRACE=FILE, or datum run --trace FILE, writes one");
  }
  return text;
}

/// As it may stand inside an element of HTML: no "</" ends the element. JSON reads "<\/" as the same.
std::string inside_element(std::string_view json) {
  std::string text;
  text.reserve(json.size() + json.size() / 64);
  for (const char letter : json) {
    if (letter == '/' && !text.empty() && text.back() == '<') {
      text += '\\';
    }
    text += letter;
  }
  return text;
}

int write_page(const ViewChoice& choice) {
  Result<std::string> trace = read_trace(choice.trace);
  if (!trace) {
    return tell_failure(trace.error(), choice.json);
  }
  const std::string page = choice.page.empty()
                               ? std::filesystem::path(choice.trace).replace_extension(".html").string()
                               : choice.page;
  std::ofstream file(page, std::ios::binary | std::ios::trunc);
  file << viewer_page_before_trace << inside_element(*trace) << viewer_page_after_trace;
  file.close();
  if (!file) {
    return tell_failure(failure(page, fmt::format("cannot be written: {}", std::strerror(errno)),
                                "name another file with --output"),
                        choice.json);
  }
  if (choice.json) {
    print_json({{"page", page}});
  } else {
    fmt::print("{}\n", page);
  }
  return exit_well;
}

constexpr const char* view_examples = R"(Examples:
  datum run --trace out.json -- ./application
  datum view out.json                   writes out.html; open it in any browser, it needs no network
  datum view out.json -o page.html      page.html#call=17 opens it at the call of that number

A descriptor's sequence number works as page.html#sequence=4.)";

}  // namespace

void add_view_command(CLI::App& app, int& status) {
  const auto choice = std::make_shared<ViewChoice>();
  CLI::App* const view = app.add_subcommand("view", "put a trace into a page that any browser shows");
  view->footer(view_examples);
  view->add_option("TRACE", choice->trace, "the JSON that DATUM_TRACE or 'datum run --trace' wrote")
      ->required();
  view->add_option("-o,--output", choice->page, "the page (else TRACE with .html at its end)");
  view->add_flag("--json", choice->json, "print JSON");
  view->callback([choice, &status] { status = write_page(*choice); });
}

}  // namespace datum::tool
