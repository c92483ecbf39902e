// The board: what stands behind the PCIe hard block. Bus names and rules are AXI4's and AXI4-Lite's.
module datum_board
  import datum_pkg::*;
#(
  parameter int unsigned HostIdWidth = 10
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
  output logic [HostIdWidth-1:0] m_axi_host_awid_o,
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
  input  logic [HostIdWidth-1:0] m_axi_host_bid_i,
  input  logic [1:0]   m_axi_host_bresp_i,
  input  logic         m_axi_host_bvalid_i,
  output logic         m_axi_host_bready_o,
  output logic [HostIdWidth-1:0] m_axi_host_arid_o,
  output logic [63:0]  m_axi_host_araddr_o,
  output logic [7:0]   m_axi_host_arlen_o,
  output logic [2:0]   m_axi_host_arsize_o,
  output logic [1:0]   m_axi_host_arburst_o,
  output logic         m_axi_host_arvalid_o,
  input  logic         m_axi_host_arready_i,
  input  logic [HostIdWidth-1:0] m_axi_host_rid_i,
  input  logic [511:0] m_axi_host_rdata_i,
  input  logic [1:0]   m_axi_host_rresp_i,
  input  logic         m_axi_host_rlast_i,
  input  logic         m_axi_host_rvalid_i,
  output logic         m_axi_host_rready_o,

  // DRAM device: at most one activate, one precharge, one column command a cycle. One column is 64 bytes; a row of a bank has 128 of them, 16 banks in
  // four groups (bank[1:0] is the group). Write data comes with the column command; read data exactly T_CL cycles after it.
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
  output logic [63:0]  dram_wstrb_o,
  input  logic         dram_rvalid_i,
  input  logic [511:0] dram_rdata_i

);
endmodule
