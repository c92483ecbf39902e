#include "sim/rtl/design_board.hpp"

#include <new>

#include "rtl_model/verilated_runtime/verilated_failure.hpp"

namespace datum::sim {

namespace {

class DesignBoard final : public VerilatedBoard {
 public:
  DesignBoard(const datum_design& design, datum_design_model* model, const datum_design_ports& ports)
      : design_(design), model_(model), pins_(pins_of(ports)) {}

  DesignBoard(const DesignBoard&) = delete;
  DesignBoard& operator=(const DesignBoard&) = delete;

  ~DesignBoard() override { design_.close(model_); }

  void evaluate() override {
    if (const char* const failure = design_.evaluate(model_); failure != nullptr) {
      throw rtl_model::ModelFailure(failure);
    }
  }

  void open_waveform(const std::string& file, const std::vector<std::string>& scopes) override {
    std::vector<const char*> plain;
    plain.reserve(scopes.size());
    for (const std::string& scope : scopes) {
      plain.push_back(scope.c_str());
    }
    design_.open_waveform(model_, file.c_str(), plain.data(), static_cast<std::uint32_t>(plain.size()));
  }

  void dump(std::uint64_t time_ps) override { design_.dump(model_, time_ps); }

  void flush_waveform() override { design_.flush_waveform(model_); }

  void close_waveform() override { design_.close_waveform(model_); }

  [[nodiscard]] BoardPins& pins() noexcept override { return pins_; }

 private:
  const datum_design& design_;
  datum_design_model* model_;
  BoardPins pins_;
};

}  // namespace

std::unique_ptr<VerilatedBoard> make_design_board(const datum_design& design,
                                                  const VerilatedSettings& settings, bool instrumented) {
  const datum_design_settings plain{settings.seed, settings.coverage_file.c_str(),
                                    settings.waveforms ? 1U : 0U};
  datum_design_ports ports{};
  datum_design_model* const model = design.open(&plain, instrumented ? 1 : 0, &ports);
  if (model == nullptr) {
    throw std::bad_alloc();
  }
  return std::make_unique<DesignBoard>(design, model, ports);
}

}  // namespace datum::sim
