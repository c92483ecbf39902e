// The DRAM's timing as software wants it. A write that leaves a bound is refused and noted. What was accepted is offered to the controller once
// nothing was written for SettleCycles, so that a set of several registers comes into effect as one.
module datum_timing_regs
  import datum_reg_pkg::*;
  import datum_dram_pkg::*;
#(
  parameter int unsigned SettleCycles = 256
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         write_i,       // to the memory block
  input  logic [18:0]  offset_i,
  input  logic [31:0]  wdata_i,

  output dram_timing_t timing_o,
  output logic         refused_o,     // a write was, since the note of it was cleared
  output logic         pending_o,     // timing_o is not in effect yet
  output logic         apply_o,       // it may come into effect
  input  logic         taken_i        // and does
);
  localparam int unsigned SettleWidth = $clog2(SettleCycles + 1);

  dram_timing_t           timing_q, wanted;
  logic                   refused_q, pending_q, timing_write, accepted;
  logic [SettleWidth-1:0] settle_q;

  always_comb begin
    wanted       = timing_q;
    timing_write = write_i;
    unique case (offset_i)
      MC_TIMING0_OFFSET: begin
        wanted.t_rcd   = wdata_i[MC_TIMING0_T_RCD_LSB+:MC_TIMING0_T_RCD_WIDTH];
        wanted.t_rp    = wdata_i[MC_TIMING0_T_RP_LSB+:MC_TIMING0_T_RP_WIDTH];
        wanted.t_ras   = wdata_i[MC_TIMING0_T_RAS_LSB+:MC_TIMING0_T_RAS_WIDTH];
        wanted.t_rrd_l = wdata_i[MC_TIMING0_T_RRD_L_LSB+:MC_TIMING0_T_RRD_L_WIDTH];
      end
      MC_TIMING1_OFFSET: begin
        wanted.t_cl    = wdata_i[MC_TIMING1_T_CL_LSB+:MC_TIMING1_T_CL_WIDTH];
        wanted.t_ccd_l = wdata_i[MC_TIMING1_T_CCD_L_LSB+:MC_TIMING1_T_CCD_L_WIDTH];
        wanted.t_wtr   = wdata_i[MC_TIMING1_T_WTR_LSB+:MC_TIMING1_T_WTR_WIDTH];
        wanted.t_rtw   = wdata_i[MC_TIMING1_T_RTW_LSB+:MC_TIMING1_T_RTW_WIDTH];
      end
      MC_TIMING2_OFFSET: begin
        wanted.t_refi  = wdata_i[MC_TIMING2_T_REFI_LSB+:MC_TIMING2_T_REFI_WIDTH];
        wanted.t_rfc   = wdata_i[MC_TIMING2_T_RFC_LSB+:MC_TIMING2_T_RFC_WIDTH];
        wanted.t_faw   = wdata_i[MC_TIMING2_T_FAW_LSB+:MC_TIMING2_T_FAW_WIDTH];
      end
      MC_TIMING3_OFFSET: begin
        wanted.t_wr    = wdata_i[MC_TIMING3_T_WR_LSB+:MC_TIMING3_T_WR_WIDTH];
        wanted.t_rtp   = wdata_i[MC_TIMING3_T_RTP_LSB+:MC_TIMING3_T_RTP_WIDTH];
      end
      default: timing_write = 1'b0;
    endcase
  end

  assign accepted = timing_write && legal(wanted);

  always_ff @(posedge clk_i) begin
    if (settle_q != '0) settle_q <= settle_q - 1'b1;
    if (taken_i) pending_q <= 1'b0;
    if (accepted) begin
      timing_q  <= wanted;
      pending_q <= 1'b1;
      settle_q  <= SettleWidth'(SettleCycles);
    end
    if (timing_write && !accepted) refused_q <= 1'b1;
    else if (write_i && offset_i == MC_TIMING_STATUS_OFFSET && wdata_i[MC_TIMING_STATUS_REFUSED_LSB]) refused_q <= 1'b0;
    if (!rst_ni) begin
      timing_q  <= Ddr4At300Mhz;
      settle_q  <= '0;
      pending_q <= 1'b0;
      refused_q <= 1'b0;
    end
  end

  assign timing_o  = timing_q;
  assign refused_o = refused_q;
  assign pending_o = pending_q;
  assign apply_o   = pending_q && settle_q == '0;

  always_legal: assert property (@(posedge clk_i) disable iff (!rst_ni) legal(timing_q));
endmodule
