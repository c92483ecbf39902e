// datum_dram_scheduler: the DRAM is refreshed in time, whatever traffic there is.
//
//   - From one refresh to the next pass at most two intervals and the cycles that it takes to close the rows; DDR4 allows nine intervals.
//   - What is owed is never forgotten: the count of refreshes due is exact, and far from its limit.
//   - A refresh finds all rows closed, t_rp after the last precharge, and t_rfc cycles after it there is no command.
// faults are looked for with Refi=6 Rfc=3 Batch=1
// fault rtl/memory/datum_dram_scheduler.sv: "due_q >= 4'(RefreshBatch)" becomes "due_q > 4'(RefreshBatch)"
// fault rtl/memory/datum_dram_scheduler.sv: "wait_q  <= timing_now.t_rfc - 12'd2;" becomes "wait_q  <= timing_now.t_rfc - 12'd3;"
// fault rtl/memory/datum_dram_scheduler.sv: "wait_q <= 12'(timing_q.t_rp) - 12'd2;" becomes "wait_q <= 12'(timing_q.t_rp) - 12'd3;"
`include "proofs.svh"

module refresh_deadline_proof
  import datum_dram_pkg::*;
#(
  parameter int unsigned Refi = int'(Ddr4At300Mhz.t_refi),
  parameter int unsigned Rfc = int'(Ddr4At300Mhz.t_rfc),
  parameter int unsigned Batch = 2
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [BankCount-1:0] read_has_i,
  input logic [RowWidth-1:0]  read_row_i[BankCount],
  input logic [SlotWidth:0]   read_count_i,
  input logic [BankCount-1:0] write_has_i,
  input logic [RowWidth-1:0]  write_row_i[BankCount],
  input logic [SlotWidth:0]   write_count_i,
  input logic                 write_wanted_i,
  input logic                 timing_apply_i
);
  function automatic dram_timing_t timing();
    timing        = Ddr4At300Mhz;
    timing.t_refi = 16'(Refi);
    timing.t_rfc  = 12'(Rfc);
  endfunction

  localparam dram_timing_t Timing = timing();
  localparam int unsigned Rp = int'(Timing.t_rp);
  localparam int unsigned Ras = int'(Timing.t_ras);
  // The longest time in which rows that were opened just before can be closed.
  localparam int unsigned Close = Ras;
  localparam int unsigned Limit = Batch * Refi + Close + Rp + 1;
  localparam logic [2:0] Run = 3'd0, Closing = 3'd1, Closed = 3'd2, Refresh = 3'd3, Recover = 3'd4;

  logic                   column, column_write, activate, precharge, precharge_all, refresh, ready, taken;
  logic [BankWidth-1:0]   column_bank, activate_bank, precharge_bank;
  logic [ColumnWidth-1:0] column_address;
  logic [TagWidth-1:0]    column_tag;
  logic [RowWidth-1:0]    activate_row;
  dram_entry_t            heads[BankCount];
  for (genvar b = 0; b < BankCount; b++) begin : gen_heads
    assign heads[b] = '0;
  end

  datum_dram_scheduler #(.ResetTiming(Timing), .RefreshBatch(Batch)) dut (
    .clk_i, .rst_ni, .timing_i(Timing), .timing_apply_i, .timing_taken_o(taken), .read_has_i, .read_row_i, .read_head_i(heads), .read_count_i, .write_has_i, .write_row_i, .write_head_i(heads), .write_count_i,
    .write_wanted_i, .column_o(column), .column_write_o(column_write), .column_bank_o(column_bank), .column_address_o(column_address),
    .column_tag_o(column_tag), .activate_o(activate), .activate_bank_o(activate_bank), .activate_row_o(activate_row), .precharge_o(precharge),
    .precharge_all_o(precharge_all), .precharge_bank_o(precharge_bank), .refresh_o(refresh), .ready_o(ready)
  );

  logic unused_outputs;
  assign unused_outputs = ^{taken, column_write, precharge_all, ready, column_bank, activate_bank, precharge_bank, column_address, column_tag, activate_row};

  `RESET_FIRST

  // Cycles since the last refresh, since the last precharge, and of closing rows. `debt` is what is owed, in cycles.
  logic [16:0] refresh_age_q, debt, wait_now;
  logic [3:0]  precharge_age_q, closing_q;
  logic        refreshed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      refresh_age_q   <= '0;
      refreshed_q     <= 1'b0;
      precharge_age_q <= '1;
      closing_q       <= '0;
    end else begin
      refreshed_q     <= refreshed_q || refresh;
      refresh_age_q   <= refresh ? 17'd1 : refresh_age_q + 1'b1;
      precharge_age_q <= precharge ? 4'd1 : precharge_age_q == '1 ? precharge_age_q : precharge_age_q + 1'b1;
      closing_q       <= dut.state_q == Closing ? closing_q + 1'b1 : '0;
    end
  end
  assign debt     = 17'(dut.due_q) * 17'(Refi) + 17'(Refi) - 17'd1 - 17'(dut.interval_q);
  assign wait_now = 17'(dut.wait_q);

  // While rows are being closed nothing new is sent, so what blocks a precharge runs out.
  logic quiet;
  always_comb begin
    quiet = 1'b1;
    for (int unsigned k = 0; k < dut.u_timers.PrechargeDepth; k++)
      if (k + 1 + 32'(closing_q) >= Close && dut.u_timers.precharge_q[k] != '0) quiet = 1'b0;
  end

  logic in_bounds;
  always_comb begin
    unique case (dut.state_q)
      Run:     in_bounds = debt <= 17'(Batch * Refi);
      Closing: in_bounds = debt <= 17'(Batch * Refi + 1) + 17'(closing_q) && dut.due_q != '0;
      Closed:  in_bounds = wait_now <= 17'(Rp - 2) && debt + wait_now <= 17'(Limit - 1) && dut.due_q != '0 && dut.open_q == '0
                           && 17'(precharge_age_q) + wait_now == 17'(Rp - 1);
      Refresh: in_bounds = debt <= 17'(Limit) && dut.due_q != '0 && dut.open_q == '0;
      Recover: in_bounds = wait_now <= 17'(Rfc - 2) && debt + 17'(Refi) + wait_now <= 17'(Limit + Rfc - 1) && dut.open_q == '0
                           && refresh_age_q + wait_now == 17'(Rfc - 1);
      default: in_bounds = 1'b0;
    endcase
  end

  `PROVE(timing_stays, !started_q || dut.timing_q == Timing)
  `PROVE(each_state_is_in_bounds, !started_q || (in_bounds && dut.interval_q < 16'(Refi)))
  `PROVE(rows_close_in_time, !started_q || (quiet && 32'(closing_q) <= Close - (dut.state_q == Closing ? 1 : 0)))
  `PROVE(only_closing_counts, !started_q || dut.state_q == Closing || dut.state_q == Closed || closing_q == '0)
  `PROVE(no_refresh_is_forgotten, !started_q || refresh_age_q <= debt)
  `PROVE(the_next_refresh_is_in_time, !started_q || refresh_age_q <= 17'(Limit))
  `PROVE(rows_are_closed, !started_q || !refresh || dut.open_q == '0)
  `PROVE(a_precharge_is_over, !started_q || !(refresh || dut.state_q == Recover) || precharge_age_q >= 4'(Rp))
  `PROVE(a_refresh_is_over, !started_q || !refreshed_q || dut.state_q == Recover || refresh_age_q >= 17'(Rfc))
  `PROVE(nothing_during_a_refresh, !started_q || !(refresh || dut.state_q == Recover) || !(column || activate || precharge))
endmodule
