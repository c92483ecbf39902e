// datum_dram_timers: allows exactly what the timing rules of the DRAM allow, told by the ages of commands.
//
//   - An activate is allowed t_rp after the bank was closed, t_rrd_l after the last of its bank group and t_faw after the fourth-last activate, and not earlier or later.
//   - A bank may be closed t_ras after it was opened, t_rtp after a read, t_wr after a write.
//   - A column access is allowed t_rcd after its row was opened and t_ccd_l after one of its bank group; a read t_wtr after a write, a write t_rtw after a
//     read.
//
// Of one bank, any.
// fault rtl/memory/datum_dram_timers.sv: "k + 1 < Rcd" becomes "k + 2 < Rcd"
// fault rtl/memory/datum_dram_timers.sv: "any_activate_q) < 4" becomes "any_activate_q) < 5"
// fault rtl/memory/datum_dram_timers.sv: "assign read_allowed_o      = any_write_q == '0" becomes "assign read_allowed_o      = any_write_q[Wtr-3:0] == '0"
`include "proofs.svh"

module dram_timers_proof
  import datum_dram_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [BankCount-1:0] activate_i,
  input logic [BankCount-1:0] precharge_i,
  input logic [BankCount-1:0] read_i,
  input logic [BankCount-1:0] write_i,
  input logic [BankWidth-1:0] any_i
);
  localparam dram_timing_t Timing = Ddr4At300Mhz;
  localparam logic [4:0] Old = '1;

  logic [BankCount-1:0] activate_allowed, precharge_allowed, column_allowed;
  logic                 read_allowed, write_allowed;

  datum_dram_timers #(.Timing(Timing)) dut (
    .clk_i, .rst_ni, .activate_i, .precharge_i, .read_i, .write_i,
    .activate_allowed_o(activate_allowed), .precharge_allowed_o(precharge_allowed), .column_allowed_o(column_allowed),
    .read_allowed_o(read_allowed), .write_allowed_o(write_allowed)
  );

  `RESET_FIRST
  `ANY(bank_q, any_i)

  // Cycles since the last command of the kind.
  logic [4:0]           activate_age_q, precharge_age_q, read_age_q, write_age_q, group_age_q, group_activate_age_q, any_read_age_q, any_write_age_q;
  logic [4:0]           last_q, second_q, third_q, fourth_q;    // activates of any bank
  logic [BankCount-1:0] group;
  assign group = 16'h1111 << bank_q[GroupWidth-1:0];

  function automatic logic [4:0] aged(input logic [4:0] age, input logic now);
    aged = now ? 5'd1 : age == Old ? Old : age + 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    activate_age_q  <= aged(activate_age_q, activate_i[bank_q]);
    precharge_age_q <= aged(precharge_age_q, precharge_i[bank_q]);
    read_age_q      <= aged(read_age_q, read_i[bank_q]);
    write_age_q     <= aged(write_age_q, write_i[bank_q]);
    group_age_q     <= aged(group_age_q, ((read_i | write_i) & group) != '0);
    group_activate_age_q <= aged(group_activate_age_q, (activate_i & group) != '0);
    any_read_age_q  <= aged(any_read_age_q, read_i != '0);
    any_write_age_q <= aged(any_write_age_q, write_i != '0);
    last_q          <= aged(last_q, activate_i != '0);
    second_q        <= activate_i != '0 ? aged(last_q, 1'b0) : aged(second_q, 1'b0);
    third_q         <= activate_i != '0 ? aged(second_q, 1'b0) : aged(third_q, 1'b0);
    fourth_q        <= activate_i != '0 ? aged(third_q, 1'b0) : aged(fourth_q, 1'b0);
    if (!rst_ni) begin
      activate_age_q  <= Old;
      precharge_age_q <= Old;
      read_age_q      <= Old;
      write_age_q     <= Old;
      group_age_q     <= Old;
      group_activate_age_q <= Old;
      any_read_age_q  <= Old;
      any_write_age_q <= Old;
      last_q          <= Old;
      second_q        <= Old;
      third_q         <= Old;
      fourth_q        <= Old;
    end
  end

  `PROVE(activate, !started_q || activate_allowed[bank_q] == (precharge_age_q >= 5'(Timing.t_rp) && group_activate_age_q >= 5'(Timing.t_rrd_l)
                                                               && fourth_q >= 5'(Timing.t_faw)))
  `PROVE(precharge, !started_q || precharge_allowed[bank_q] == (activate_age_q >= 5'(Timing.t_ras) && read_age_q >= 5'(Timing.t_rtp)
                                                                 && write_age_q >= 5'(Timing.t_wr)))
  `PROVE(column, !started_q || column_allowed[bank_q] == (activate_age_q >= 5'(Timing.t_rcd) && group_age_q >= 5'(Timing.t_ccd_l)))
  `PROVE(read, !started_q || read_allowed == (any_write_age_q >= 5'(Timing.t_wtr)))
  `PROVE(write, !started_q || write_allowed == (any_read_age_q >= 5'(Timing.t_rtw)))
endmodule
