// The fabric's bursts as AXI4 to the host side. Buffers of the fabric stand before it; what comes from the host is buffered here.
module datum_host_port
  import datum_pkg::*;
#(
  parameter int unsigned HostIdWidth = 10
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   awvalid_i,
  output logic                   awready_o,
  input  fabric_ax_t             aw_i,
  input  logic                   wvalid_i,
  output logic                   wready_o,
  input  axi_w_t                 w_i,
  output logic                   bvalid_o,
  input  logic                   bready_i,
  output fabric_b_t              b_o,
  input  logic                   arvalid_i,
  output logic                   arready_o,
  input  fabric_ax_t             ar_i,
  output logic                   rvalid_o,
  input  logic                   rready_i,
  output fabric_r_t              r_o,

  output logic [HostIdWidth-1:0] m_axi_host_awid_o,
  output logic [63:0]            m_axi_host_awaddr_o,
  output logic [7:0]             m_axi_host_awlen_o,
  output logic [2:0]             m_axi_host_awsize_o,
  output logic [1:0]             m_axi_host_awburst_o,
  output logic                   m_axi_host_awvalid_o,
  input  logic                   m_axi_host_awready_i,
  output logic [DataWidth-1:0]   m_axi_host_wdata_o,
  output logic [DataBytes-1:0]   m_axi_host_wstrb_o,
  output logic                   m_axi_host_wlast_o,
  output logic                   m_axi_host_wvalid_o,
  input  logic                   m_axi_host_wready_i,
  input  logic [HostIdWidth-1:0] m_axi_host_bid_i,
  input  logic [1:0]             m_axi_host_bresp_i,
  input  logic                   m_axi_host_bvalid_i,
  output logic                   m_axi_host_bready_o,
  output logic [HostIdWidth-1:0] m_axi_host_arid_o,
  output logic [63:0]            m_axi_host_araddr_o,
  output logic [7:0]             m_axi_host_arlen_o,
  output logic [2:0]             m_axi_host_arsize_o,
  output logic [1:0]             m_axi_host_arburst_o,
  output logic                   m_axi_host_arvalid_o,
  input  logic                   m_axi_host_arready_i,
  input  logic [HostIdWidth-1:0] m_axi_host_rid_i,
  input  logic [DataWidth-1:0]   m_axi_host_rdata_i,
  input  logic [1:0]             m_axi_host_rresp_i,
  input  logic                   m_axi_host_rlast_i,
  input  logic                   m_axi_host_rvalid_i,
  output logic                   m_axi_host_rready_o
);
  localparam logic [1:0] BurstIncr = 2'b01;
  localparam logic [2:0] FullWidth = 3'($clog2(DataBytes));

  logic unused_targets;
  assign unused_targets = ^{aw_i.addr.target, ar_i.addr.target};

  assign m_axi_host_awid_o    = HostIdWidth'(aw_i.id);
  assign m_axi_host_awaddr_o  = 64'(aw_i.addr.address);
  assign m_axi_host_awlen_o   = 8'(aw_i.len);
  assign m_axi_host_awsize_o  = FullWidth;
  assign m_axi_host_awburst_o = BurstIncr;
  assign m_axi_host_awvalid_o = awvalid_i;
  assign awready_o            = m_axi_host_awready_i;

  assign m_axi_host_wdata_o   = w_i.data;
  assign m_axi_host_wstrb_o   = w_i.strb;
  assign m_axi_host_wlast_o   = w_i.last;
  assign m_axi_host_wvalid_o  = wvalid_i;
  assign wready_o             = m_axi_host_wready_i;

  assign m_axi_host_arid_o    = HostIdWidth'(ar_i.id);
  assign m_axi_host_araddr_o  = 64'(ar_i.addr.address);
  assign m_axi_host_arlen_o   = 8'(ar_i.len);
  assign m_axi_host_arsize_o  = FullWidth;
  assign m_axi_host_arburst_o = BurstIncr;
  assign m_axi_host_arvalid_o = arvalid_i;
  assign arready_o            = m_axi_host_arready_i;

  logic [1:0] unused_answers;
  datum_fifo #(.Width($bits(fabric_b_t)), .DepthLog2(1)) u_answers (
    .clk_i, .rst_ni, .valid_i(m_axi_host_bvalid_i), .ready_o(m_axi_host_bready_o),
    .data_i({FabricIdWidth'(m_axi_host_bid_i), m_axi_host_bresp_i}),
    .valid_o(bvalid_o), .ready_i(bready_i), .data_o(b_o), .count_o(unused_answers)
  );

  logic [1:0] unused_data;
  datum_fifo #(.Width($bits(fabric_r_t)), .DepthLog2(1)) u_data (
    .clk_i, .rst_ni, .valid_i(m_axi_host_rvalid_i), .ready_o(m_axi_host_rready_o),
    .data_i({FabricIdWidth'(m_axi_host_rid_i), m_axi_host_rdata_i, m_axi_host_rresp_i, m_axi_host_rlast_i}),
    .valid_o(rvalid_o), .ready_i(rready_i), .data_o(r_o), .count_o(unused_data)
  );

  if (HostIdWidth < FabricIdWidth) begin : gen_bad
    $error("HostIdWidth is too small for the identifiers of the fabric");
  end
endmodule
