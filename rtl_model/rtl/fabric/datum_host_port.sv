// The fabric's bursts as AXI4 to the host side. Buffers of the fabric stand before it; read data and answers are taken as the managers take them.
module datum_host_port
  import datum_pkg::*;
#(
  parameter int unsigned HostIdWidth = 10
) (
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

  assign bvalid_o             = m_axi_host_bvalid_i;
  assign b_o                  = '{id: FabricIdWidth'(m_axi_host_bid_i), resp: m_axi_host_bresp_i};
  assign m_axi_host_bready_o  = bready_i;

  assign m_axi_host_arid_o    = HostIdWidth'(ar_i.id);
  assign m_axi_host_araddr_o  = 64'(ar_i.addr.address);
  assign m_axi_host_arlen_o   = 8'(ar_i.len);
  assign m_axi_host_arsize_o  = FullWidth;
  assign m_axi_host_arburst_o = BurstIncr;
  assign m_axi_host_arvalid_o = arvalid_i;
  assign arready_o            = m_axi_host_arready_i;

  assign rvalid_o             = m_axi_host_rvalid_i;
  assign r_o                  = '{id: FabricIdWidth'(m_axi_host_rid_i), data: m_axi_host_rdata_i, resp: m_axi_host_rresp_i,
                                  last: m_axi_host_rlast_i};
  assign m_axi_host_rready_o  = rready_i;

  if (HostIdWidth < FabricIdWidth) begin : gen_bad
    $error("HostIdWidth is too small for the identifiers of the fabric");
  end
endmodule
