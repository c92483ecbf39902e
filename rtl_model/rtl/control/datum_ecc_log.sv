// The first error of its kind since the log was emptied: which word, by what syndrome, in which bank.
module datum_ecc_log
  import datum_reg_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic [LaneCount-1:0] lanes_i,      // words of the event with an error of this kind
  input  ecc_event_t           event_i,
  output logic [31:0]          info_o,
  output logic [63:0]          address_o,
  output logic                 taken_o       // the log took an error
);
  localparam int unsigned LaneWidth = $clog2(LaneCount);

  logic                 valid_q, scrub_q;
  logic [BankWidth-1:0] bank_q;
  logic [7:0]           syndrome_q;
  logic [38:3]          word_q;
  logic [LaneWidth-1:0] lane;
  dram_place_t          place;
  logic                 unused_bits;

  always_comb begin
    lane = '0;
    for (int unsigned l = LaneCount; l > 0; l--) if (lanes_i[l-1]) lane = LaneWidth'(l - 1);
  end

  assign place        = place_of(event_i.column);
  assign unused_bits = ^{place.row, place.column, event_i.corrected, event_i.failed};
  assign taken_o      = lanes_i != '0 && (!valid_q || clear_i);
  assign address_o    = 64'({word_q, 3'b000});

  always_comb begin
    info_o = '0;
    info_o[ECC_CORRECTED_INFO_VALID_LSB] = valid_q;
    info_o[ECC_CORRECTED_INFO_SCRUB_LSB] = scrub_q;
    info_o[ECC_CORRECTED_INFO_BANK_LSB+:ECC_CORRECTED_INFO_BANK_WIDTH] = bank_q;
    info_o[ECC_CORRECTED_INFO_SYNDROME_LSB+:ECC_CORRECTED_INFO_SYNDROME_WIDTH] = syndrome_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (clear_i && !taken_o)) begin
      valid_q    <= 1'b0;
      scrub_q    <= 1'b0;
      bank_q     <= '0;
      syndrome_q <= '0;
      word_q     <= '0;
    end else if (taken_o) begin
      valid_q    <= 1'b1;
      scrub_q    <= event_i.scrub;
      bank_q     <= place.bank;
      syndrome_q <= event_i.syndrome[8*lane+:8];
      word_q     <= {event_i.column, lane};
    end
  end

  if (ECC_CORRECTED_INFO_VALID_LSB != ECC_UNCORRECTED_INFO_VALID_LSB || ECC_CORRECTED_INFO_SCRUB_LSB != ECC_UNCORRECTED_INFO_SCRUB_LSB
      || ECC_CORRECTED_INFO_BANK_LSB != ECC_UNCORRECTED_INFO_BANK_LSB
      || ECC_CORRECTED_INFO_SYNDROME_LSB != ECC_UNCORRECTED_INFO_SYNDROME_LSB) begin : gen_bad
    $error("the two logs differ");
  end
endmodule
