// datum_dram_timers: allows exactly what the timing rules of the DRAM allow, told by the ages of commands.
//
//   - An activate is allowed t_rp after the bank was closed, t_rrd_l after the last of its bank group and t_faw after the fourth-last activate, and not earlier or later.
//   - A bank may be closed t_ras after it was opened, t_rtp after a read, t_wr after a write.
//   - A column access is allowed t_rcd after its row was opened and t_ccd_l after one of its bank group; a read t_wtr after a write, a write t_rtw after a
//     read.
//
// Of one bank, any, and for each legal timing.
// faults are looked for with Fixed=1
// fault rtl/memory/datum_dram_timers.sv: "(rcd[k] ? activate_i" becomes "(rcd[k+1] ? activate_i"
// fault rtl/memory/datum_dram_timers.sv: "faw[WindowDepth-1:0]) < 4" becomes "faw[WindowDepth-1:0]) < 5"
// fault rtl/memory/datum_dram_timers.sv: "(write_i != '0 ? wtr" becomes "(write_i[0] ? wtr"
`include "proofs.svh"

module dram_timers_proof
  import datum_dram_pkg::*;
#(
  parameter bit Fixed = 1'b0   // one timing, that of the package
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [BankCount-1:0] activate_i,
  input logic [BankCount-1:0] precharge_i,
  input logic [BankCount-1:0] read_i,
  input logic [BankCount-1:0] write_i,
  input logic [BankWidth-1:0] any_i,
  input dram_timing_t         any_timing_i
);
  localparam logic [4:0] Old = '1;

  logic [BankCount-1:0] activate_allowed, precharge_allowed, column_allowed;
  logic                 read_allowed, write_allowed;

  dram_timing_t timing;

  datum_dram_timers dut (
    .clk_i, .rst_ni, .timing_i(timing), .activate_i, .precharge_i, .read_i, .write_i,
    .activate_allowed_o(activate_allowed), .precharge_allowed_o(precharge_allowed), .column_allowed_o(column_allowed),
    .read_allowed_o(read_allowed), .write_allowed_o(write_allowed)
  );

  `RESET_FIRST
  `ANY(bank_q, any_i)
  `ANY(timing_q, any_timing_i)
  assign timing = Fixed ? Ddr4At300Mhz : timing_q;
  `ASSUME(legal, !started_q || legal(timing))

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

  // What each element of the block says is what the ages say.
  logic as_the_ages_say;
  always_comb begin
    as_the_ages_say = activate_age_q != '0 && precharge_age_q != '0 && read_age_q != '0 && write_age_q != '0 && group_age_q != '0
                      && group_activate_age_q != '0 && any_read_age_q != '0 && any_write_age_q != '0;
    for (int unsigned k = 0; k < dut.ColumnDepth; k++)
      if (dut.column_q[k][bank_q] != (6'(activate_age_q) + 6'(k) < 6'(timing.t_rcd))) as_the_ages_say = 1'b0;
    for (int unsigned k = 0; k < dut.PrechargeDepth; k++)
      if (dut.precharge_q[k][bank_q] != (6'(activate_age_q) + 6'(k) < 6'(timing.t_ras) || 6'(read_age_q) + 6'(k) < 6'(timing.t_rtp)
                                         || 6'(write_age_q) + 6'(k) < 6'(timing.t_wr))) as_the_ages_say = 1'b0;
    for (int unsigned k = 0; k < dut.ActivateDepth; k++)
      if (dut.activate_q[k][bank_q] != (6'(precharge_age_q) + 6'(k) < 6'(timing.t_rp))) as_the_ages_say = 1'b0;
    for (int unsigned k = 0; k < dut.GroupDepth; k++)
      if (dut.group_q[k][bank_q[GroupWidth-1:0]] != (6'(group_age_q) + 6'(k) < 6'(timing.t_ccd_l))) as_the_ages_say = 1'b0;
    for (int unsigned k = 0; k < dut.OpenedDepth; k++)
      if (dut.opened_q[k][bank_q[GroupWidth-1:0]] != (6'(group_activate_age_q) + 6'(k) < 6'(timing.t_rrd_l))) as_the_ages_say = 1'b0;
    for (int unsigned k = 0; k < dut.ReadDepth; k++)
      if (dut.read_q[k] != (6'(any_write_age_q) + 6'(k) < 6'(timing.t_wtr))) as_the_ages_say = 1'b0;
    for (int unsigned k = 0; k < dut.WriteDepth; k++)
      if (dut.write_q[k] != (6'(any_read_age_q) + 6'(k) < 6'(timing.t_rtw))) as_the_ages_say = 1'b0;
  end

  // The window holds the last four activates, and between them none.
  logic window_as_the_ages_say;
  always_comb begin
    window_as_the_ages_say = last_q != '0 && (second_q > last_q || second_q == Old) && (third_q > second_q || third_q == Old)
                             && (fourth_q > third_q || fourth_q == Old);
    for (int unsigned k = 0; k < dut.WindowDepth; k++)
      if (5'(k + 1) <= fourth_q && dut.window_q[k] != (5'(k + 1) == last_q || 5'(k + 1) == second_q || 5'(k + 1) == third_q || 5'(k + 1) == fourth_q))
        window_as_the_ages_say = 1'b0;
  end
  `PROVE(elements, !started_q || as_the_ages_say)
  `PROVE(window, !started_q || window_as_the_ages_say)

  `PROVE(activate, !started_q || activate_allowed[bank_q] == (precharge_age_q >= 5'(timing.t_rp) && group_activate_age_q >= 5'(timing.t_rrd_l)
                                                               && fourth_q >= 5'(timing.t_faw)))
  `PROVE(precharge, !started_q || precharge_allowed[bank_q] == (activate_age_q >= 5'(timing.t_ras) && read_age_q >= 5'(timing.t_rtp)
                                                                 && write_age_q >= 5'(timing.t_wr)))
  `PROVE(column, !started_q || column_allowed[bank_q] == (activate_age_q >= 5'(timing.t_rcd) && group_age_q >= 5'(timing.t_ccd_l)))
  `PROVE(read, !started_q || read_allowed == (any_write_age_q >= 5'(timing.t_wtr)))
  `PROVE(write, !started_q || write_allowed == (any_read_age_q >= 5'(timing.t_rtw)))
endmodule
