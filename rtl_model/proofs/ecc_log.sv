// datum_ecc_log: the first error is kept until the log is emptied, and none is lost in between.
//
//   - An empty log takes the next error that comes, also in the cycle in which it is emptied.
//   - What it took stays: the address of the word, its syndrome, its bank and whether the scrubber met it.
//   - Of several wrong words of one column it takes the first.
// fault rtl/control/datum_ecc_log.sv: "(!valid_q || clear_i)" becomes "!valid_q"
// fault rtl/control/datum_ecc_log.sv: "for (int unsigned l = LaneCount; l > 0; l--)" becomes "for (int unsigned l = 1; l < LaneCount + 1; l++)"
`include "proofs.svh"

module ecc_log_proof
  import datum_dram_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 clear_i,
  input logic [LaneCount-1:0] lanes_i,
  input ecc_event_t           event_i
);
  logic [31:0] info;
  logic [63:0] address;
  logic        taken;

  datum_ecc_log dut (.clk_i, .rst_ni, .clear_i, .lanes_i, .event_i, .info_o(info), .address_o(address), .taken_o(taken));

  `RESET_FIRST

  logic        valid_q, scrub_q;
  logic [7:0]  syndrome_q, syndrome;
  logic [63:0] address_q;
  logic [3:0]  bank_q;
  logic [2:0]  lane;
  always_comb begin
    priority case (1'b1)
      lanes_i[0]: lane = 3'd0;
      lanes_i[1]: lane = 3'd1;
      lanes_i[2]: lane = 3'd2;
      lanes_i[3]: lane = 3'd3;
      lanes_i[4]: lane = 3'd4;
      lanes_i[5]: lane = 3'd5;
      lanes_i[6]: lane = 3'd6;
      default:    lane = 3'd7;
    endcase
    syndrome = 8'(event_i.syndrome >> {lane, 3'd0});
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (lanes_i != '0 && (clear_i || !valid_q)) begin
      valid_q    <= 1'b1;
      scrub_q    <= event_i.scrub;
      syndrome_q <= syndrome;
      address_q  <= {25'd0, event_i.column, 6'd0} + {58'd0, lane, 3'd0};
      bank_q     <= {event_i.column[16:15], event_i.column[7:6]} ^ event_i.column[20:17] ^ event_i.column[24:21] ^ event_i.column[28:25]
                    ^ event_i.column[32:29];
    end else if (clear_i) begin
      valid_q <= 1'b0;
    end
  end

  `PROVE(valid_from_the_first_to_the_clear, !started_q || info[datum_reg_pkg::ECC_CORRECTED_INFO_VALID_LSB] == valid_q)
  `PROVE(it_stays_as_it_came, !started_q || !valid_q || (address == address_q
         && info[datum_reg_pkg::ECC_CORRECTED_INFO_SYNDROME_LSB+:8] == syndrome_q && info[datum_reg_pkg::ECC_CORRECTED_INFO_BANK_LSB+:4] == bank_q
         && info[datum_reg_pkg::ECC_CORRECTED_INFO_SCRUB_LSB] == scrub_q))
  `PROVE(empty_says_nothing, !started_q || valid_q || (info == '0 && address == '0))
  `PROVE(taken_is_told, taken == (lanes_i != '0 && (clear_i || !dut.valid_q)))
endmodule
