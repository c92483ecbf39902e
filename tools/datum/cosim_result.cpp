#include "tools/datum/cosim_result.hpp"

#include <string_view>

#include <fmt/format.h>

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of_finding(const cosim::Finding& finding) {
  Json json{{"seed", finding.seed},
            {"board", finding.board},
            {"failure", finding.failure},
            {"operations", finding.operations},
            {"shortest_operations", finding.shortest.operations.size()},
            {"shortest", cosim::describe(finding.shortest)}};
  if (finding.place) {
    const cosim::WrongPlace& place = *finding.place;
    Json words = Json::array();
    for (const std::uint64_t word : place.descriptor.words) {
      words.push_back(fmt::format("{:#018x}", word));
    }
    json["place"] = {{"operation", place.operation},
                     {"text", cosim::describe(finding.shortest, place.operation)},
                     {"descriptor", words},
                     {"memory", place.memory},
                     {"address", place.address},
                     {"expected", place.difference.expected},
                     {"found", place.difference.found},
                     {"first_cycle", place.first_cycle},
                     {"last_cycle", place.last_cycle}};
  } else {
    json["place"] = nullptr;
  }
  return json;
}

Json json_of_evidence(const CosimEvidence& evidence) {
  return {{"timeline", text_or_null(evidence.timeline)},
          {"waveform", text_or_null(evidence.waveform)},
          {"waveform_options", text_or_null(evidence.waveform_options)},
          {"waveform_failure", text_or_null(evidence.waveform_failure)}};
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      escaped += letter;
    }
  }
  return escaped;
}

std::string text_of_evidence(const CosimEvidence& evidence) {
  std::string text;
  if (!evidence.timeline.empty()) {
    text += fmt::format("timeline: {} ('datum view' shows it)\n", evidence.timeline);
  }
  if (!evidence.waveform.empty()) {
    text += fmt::format("waveform: {} ({})\n", evidence.waveform, evidence.waveform_options);
  }
  if (!evidence.waveform_failure.empty()) {
    text += fmt::format("waveform: {}\n", evidence.waveform_failure);
  }
  return text;
}

std::string text_of_coverage(const CosimCoverage& coverage) {
  return fmt::format("coverage: {} of {} points of the RTL were reached, in {}\n", coverage.reached,
                     coverage.points, coverage.file);
}

/// As several build servers take files to a test case.
std::string attachments_of(const CosimEvidence& evidence) {
  std::string lines;
  for (const std::string& file : {evidence.timeline, evidence.waveform}) {
    if (!file.empty()) {
      lines += fmt::format("[[ATTACHMENT|{}]]\n", xml_text(file));
    }
  }
  return lines.empty() ? lines : fmt::format("<system-out>{}</system-out>", lines);
}

std::string properties_of(const CosimResult& result) {
  if (!result.coverage) {
    return {};
  }
  const CosimCoverage& coverage = *result.coverage;
  return fmt::format("  <properties>\n"
                     "    <property name=\"coverage file\" value=\"{}\"/>\n"
                     "    <property name=\"coverage points\" value=\"{}\"/>\n"
                     "    <property name=\"coverage reached\" value=\"{}\"/>\n"
                     "  </properties>\n",
                     xml_text(coverage.file), coverage.points, coverage.reached);
}

}  // namespace

Json json_of(const CosimResult& result) {
  Json json{{"boards", result.boards},
            {"seed", result.first_seed},
            {"programs", result.agreed.size() + (result.finding ? 1 : 0)},
            {"operations", result.operations},
            {"difference", result.finding ? json_of_finding(*result.finding) : Json()}};
  if (result.finding) {
    json["difference"].update(json_of_evidence(result.evidence));
  }
  json["coverage"] = Json();
  if (result.coverage) {
    json["coverage"] = {{"file", result.coverage->file},
                        {"points", result.coverage->points},
                        {"reached", result.coverage->reached}};
  }
  return json;
}

std::string junit_of(const CosimResult& result, const std::string& boards) {
  std::string cases;
  const auto begin_case = [&](std::uint64_t seed) {
    return fmt::format("  <testcase classname=\"{}\" name=\"seed {}\"", xml_text(boards), seed);
  };
  for (const std::uint64_t seed : result.agreed) {
    cases += begin_case(seed) + "/>\n";
  }
  if (result.finding) {
    const std::string text = cosim::describe(*result.finding) + text_of_evidence(result.evidence);
    cases += begin_case(result.finding->seed) +
             fmt::format("><failure message=\"{}\">{}</failure>{}</testcase>\n",
                         xml_text(result.finding->failure), xml_text(text), attachments_of(result.evidence));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"datum cosim\" tests=\"{}\" "
      "failures=\"{}\">\n{}{}</testsuite>\n",
      result.agreed.size() + (result.finding ? 1 : 0), result.finding ? 1 : 0, properties_of(result), cases);
}

std::string text_of(const CosimResult& result, const std::string& repeat) {
  std::string text = result.finding
                         ? fmt::format("{}{}repeat with: {}\n", cosim::describe(*result.finding),
                                       text_of_evidence(result.evidence), repeat)
                         : fmt::format("{} programs, {} operations: {} boards agree byte for byte\n",
                                       result.agreed.size(), result.operations, result.boards.size());
  return result.coverage ? text + text_of_coverage(*result.coverage) : text;
}

}  // namespace datum::tool
