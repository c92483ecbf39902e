// A board of one's own, made of Datum's: less memory and fewer channels, and a block of its own on BAR0, a meter of what goes to the host.
// Its ports are those of section 7 of Datum's board contract; their header is that of datum_board.sv.
module my_accelerator #(
  parameter int unsigned PlantedBug = 0     // for the test of co-verification, which has to find it
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // Straps: constant while rst_ni is high.
  input  logic [63:0]  strap_memory_bytes_i,
  input  logic [63:0]  strap_aperture_fixed_bytes_i,
  input  logic [63:0]  strap_aperture_window_bytes_i,
  input  logic [3:0]   strap_channels_i,
  input  logic         strap_memory_clean_i,

  // Timebase in nanoseconds; never goes back.
  input  logic [63:0]  timer_i,

  output logic         quiescent_o,   // nothing in flight: the clock may stop until an input changes or a parked ring is due
  output logic         parked_o,      // at least one ring waits for a word

  // BAR0: registers.
  input  logic [18:0]  s_axil_bar0_awaddr_i,
  input  logic         s_axil_bar0_awvalid_i,
  output logic         s_axil_bar0_awready_o,
  input  logic [31:0]  s_axil_bar0_wdata_i,
  input  logic [3:0]   s_axil_bar0_wstrb_i,
  input  logic         s_axil_bar0_wvalid_i,
  output logic         s_axil_bar0_wready_o,
  output logic [1:0]   s_axil_bar0_bresp_o,
  output logic         s_axil_bar0_bvalid_o,
  input  logic         s_axil_bar0_bready_i,
  input  logic [18:0]  s_axil_bar0_araddr_i,
  input  logic         s_axil_bar0_arvalid_i,
  output logic         s_axil_bar0_arready_o,
  output logic [31:0]  s_axil_bar0_rdata_o,
  output logic [1:0]   s_axil_bar0_rresp_o,
  output logic         s_axil_bar0_rvalid_o,
  input  logic         s_axil_bar0_rready_i,

  // BAR4: MSI-X table at 0, pending bits at 0x1000.
  input  logic [12:0]  s_axil_bar4_awaddr_i,
  input  logic         s_axil_bar4_awvalid_i,
  output logic         s_axil_bar4_awready_o,
  input  logic [31:0]  s_axil_bar4_wdata_i,
  input  logic [3:0]   s_axil_bar4_wstrb_i,
  input  logic         s_axil_bar4_wvalid_i,
  output logic         s_axil_bar4_wready_o,
  output logic [1:0]   s_axil_bar4_bresp_o,
  output logic         s_axil_bar4_bvalid_o,
  input  logic         s_axil_bar4_bready_i,
  input  logic [12:0]  s_axil_bar4_araddr_i,
  input  logic         s_axil_bar4_arvalid_i,
  output logic         s_axil_bar4_arready_o,
  output logic [31:0]  s_axil_bar4_rdata_o,
  output logic [1:0]   s_axil_bar4_rresp_o,
  output logic         s_axil_bar4_rvalid_o,
  input  logic         s_axil_bar4_rready_i,

  // BAR2: aperture. Bursts of up to 16 full-width beats inside 4 KiB; wstrb selects bytes.
  input  logic [3:0]   s_axi_bar2_awid_i,
  input  logic [39:0]  s_axi_bar2_awaddr_i,
  input  logic [7:0]   s_axi_bar2_awlen_i,
  input  logic         s_axi_bar2_awvalid_i,
  output logic         s_axi_bar2_awready_o,
  input  logic [511:0] s_axi_bar2_wdata_i,
  input  logic [63:0]  s_axi_bar2_wstrb_i,
  input  logic         s_axi_bar2_wlast_i,
  input  logic         s_axi_bar2_wvalid_i,
  output logic         s_axi_bar2_wready_o,
  output logic [3:0]   s_axi_bar2_bid_o,
  output logic [1:0]   s_axi_bar2_bresp_o,
  output logic         s_axi_bar2_bvalid_o,
  input  logic         s_axi_bar2_bready_i,
  input  logic [3:0]   s_axi_bar2_arid_i,
  input  logic [39:0]  s_axi_bar2_araddr_i,
  input  logic [7:0]   s_axi_bar2_arlen_i,
  input  logic         s_axi_bar2_arvalid_i,
  output logic         s_axi_bar2_arready_o,
  output logic [3:0]   s_axi_bar2_rid_o,
  output logic [511:0] s_axi_bar2_rdata_o,
  output logic [1:0]   s_axi_bar2_rresp_o,
  output logic         s_axi_bar2_rlast_o,
  output logic         s_axi_bar2_rvalid_o,
  input  logic         s_axi_bar2_rready_i,

  // Host: descriptors, data, completion records, interrupt messages (single beats with four bytes of wstrb).
  // Responses with the same id come in order; different ids in any order, whole bursts of reads may interleave by beat.
  output logic [9:0] m_axi_host_awid_o,
  output logic [63:0]  m_axi_host_awaddr_o,
  output logic [7:0]   m_axi_host_awlen_o,
  output logic [2:0]   m_axi_host_awsize_o,
  output logic [1:0]   m_axi_host_awburst_o,
  output logic         m_axi_host_awvalid_o,
  input  logic         m_axi_host_awready_i,
  output logic [511:0] m_axi_host_wdata_o,
  output logic [63:0]  m_axi_host_wstrb_o,
  output logic         m_axi_host_wlast_o,
  output logic         m_axi_host_wvalid_o,
  input  logic         m_axi_host_wready_i,
  input  logic [9:0] m_axi_host_bid_i,
  input  logic [1:0]   m_axi_host_bresp_i,
  input  logic         m_axi_host_bvalid_i,
  output logic         m_axi_host_bready_o,
  output logic [9:0] m_axi_host_arid_o,
  output logic [63:0]  m_axi_host_araddr_o,
  output logic [7:0]   m_axi_host_arlen_o,
  output logic [2:0]   m_axi_host_arsize_o,
  output logic [1:0]   m_axi_host_arburst_o,
  output logic         m_axi_host_arvalid_o,
  input  logic         m_axi_host_arready_i,
  input  logic [9:0] m_axi_host_rid_i,
  input  logic [511:0] m_axi_host_rdata_i,
  input  logic [1:0]   m_axi_host_rresp_i,
  input  logic         m_axi_host_rlast_i,
  input  logic         m_axi_host_rvalid_i,
  output logic         m_axi_host_rready_o,

  // DRAM device: at most one activate, one precharge, one column command a cycle. One column is 64 bytes; a row of a bank has 128 of them, 16 banks in
  // four groups (bank[1:0] is the group). Write data comes with the column command; read data exactly T_CL cycles after it. A column is eight words
  // of 64 bits with eight check bits each; wlanes chooses words. Bits of wflips are to be stored wrong in the word wflip_lane: a card turns them on
  // the way to its pins.
  output logic         dram_act_valid_o,
  output logic [3:0]   dram_act_bank_o,
  output logic [21:0]  dram_act_row_o,
  output logic         dram_pre_valid_o,
  output logic [3:0]   dram_pre_bank_o,
  output logic         dram_pre_all_o,
  output logic         dram_ref_valid_o,
  output logic         dram_cas_valid_o,
  output logic         dram_cas_write_o,
  output logic [3:0]   dram_cas_bank_o,
  output logic [6:0]   dram_cas_col_o,
  output logic [511:0] dram_wdata_o,
  output logic [63:0]  dram_wcheck_o,
  output logic [7:0]   dram_wlanes_o,
  output logic [63:0]  dram_wflips_o,
  output logic [2:0]   dram_wflip_lane_o,
  input  logic         dram_rvalid_i,
  input  logic [511:0] dram_rdata_i,
  input  logic [63:0]  dram_rcheck_i
);
  localparam logic [63:0] MemoryBytes = 64'd64 << 20;   // what is soldered: OPTIONS of datum_add_board() says the same
  localparam logic [3:0]  Channels = 4'd2;
  localparam logic [6:0]  MeterPage = 7'h06;            // BAR0 pages 0x5000 and 0x6000 belong to designs

  // --- BAR0: the meter has a page, the board the rest. One access is outstanding at a time, so answers need no order.

  logic to_meter_write, to_meter_read, meter_idle, board_quiescent;
  logic meter_awready, meter_wready, meter_bvalid, meter_arready, meter_rvalid;
  logic board_awready, board_wready, board_bvalid, board_arready, board_rvalid;
  logic [1:0]  meter_bresp, meter_rresp, board_bresp, board_rresp;
  logic [31:0] meter_rdata, board_rdata;

  assign to_meter_write = s_axil_bar0_awaddr_i[18:12] == MeterPage;
  assign to_meter_read  = s_axil_bar0_araddr_i[18:12] == MeterPage;

  assign s_axil_bar0_awready_o = to_meter_write ? meter_awready : board_awready;
  assign s_axil_bar0_wready_o  = to_meter_write ? meter_wready : board_wready;
  assign s_axil_bar0_arready_o = to_meter_read ? meter_arready : board_arready;
  assign s_axil_bar0_bvalid_o  = meter_bvalid || board_bvalid;
  assign s_axil_bar0_bresp_o   = meter_bvalid ? meter_bresp : board_bresp;
  assign s_axil_bar0_rvalid_o  = meter_rvalid || board_rvalid;
  assign s_axil_bar0_rdata_o   = meter_rvalid ? meter_rdata : board_rdata;
  assign s_axil_bar0_rresp_o   = meter_rvalid ? meter_rresp : board_rresp;

  // The clock may stop only when nobody has anything left to do.
  assign quiescent_o = board_quiescent && meter_idle;

  my_traffic_meter u_meter (
    .clk_i, .rst_ni,
    .s_axil_awaddr_i (s_axil_bar0_awaddr_i[11:0]),
    .s_axil_awvalid_i(s_axil_bar0_awvalid_i && to_meter_write),
    .s_axil_awready_o(meter_awready),
    .s_axil_wdata_i  (s_axil_bar0_wdata_i),
    .s_axil_wstrb_i  (s_axil_bar0_wstrb_i),
    .s_axil_wvalid_i (s_axil_bar0_wvalid_i && to_meter_write),
    .s_axil_wready_o (meter_wready),
    .s_axil_bresp_o  (meter_bresp),
    .s_axil_bvalid_o (meter_bvalid),
    .s_axil_bready_i (s_axil_bar0_bready_i),
    .s_axil_araddr_i (s_axil_bar0_araddr_i[11:0]),
    .s_axil_arvalid_i(s_axil_bar0_arvalid_i && to_meter_read),
    .s_axil_arready_o(meter_arready),
    .s_axil_rdata_o  (meter_rdata),
    .s_axil_rresp_o  (meter_rresp),
    .s_axil_rvalid_o (meter_rvalid),
    .s_axil_rready_i (s_axil_bar0_rready_i),
    .beat_i          (m_axi_host_wvalid_o && m_axi_host_wready_i),
    .strobes_i       (m_axi_host_wstrb_o),
    .idle_o          (meter_idle)
  );

  // --- the rest is Datum's board; ports that are not named here are this module's own

  logic [511:0] host_wdata;

  datum_board #(.HostIdWidth(10), .OnchipBytes(131072)) u_board (
    .strap_memory_bytes_i (MemoryBytes),
    .strap_channels_i     (Channels),
    .quiescent_o          (board_quiescent),
    .s_axil_bar0_awvalid_i(s_axil_bar0_awvalid_i && !to_meter_write),
    .s_axil_bar0_awready_o(board_awready),
    .s_axil_bar0_wvalid_i (s_axil_bar0_wvalid_i && !to_meter_write),
    .s_axil_bar0_wready_o (board_wready),
    .s_axil_bar0_bresp_o  (board_bresp),
    .s_axil_bar0_bvalid_o (board_bvalid),
    .s_axil_bar0_arvalid_i(s_axil_bar0_arvalid_i && !to_meter_read),
    .s_axil_bar0_arready_o(board_arready),
    .s_axil_bar0_rdata_o  (board_rdata),
    .s_axil_bar0_rresp_o  (board_rresp),
    .s_axil_bar0_rvalid_o (board_rvalid),
    .m_axi_host_wdata_o   (host_wdata),
    .*
  );

  // The planted bug: the lowest byte of a burst's fourth beat is wrong.
  logic [7:0] beat_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) beat_q <= '0;
    else if (m_axi_host_wvalid_o && m_axi_host_wready_i) beat_q <= m_axi_host_wlast_o ? '0 : beat_q + 8'd1;
  end
  assign m_axi_host_wdata_o = PlantedBug != 0 && beat_q == 8'd3 ? host_wdata ^ 512'd255 : host_wdata;
endmodule
