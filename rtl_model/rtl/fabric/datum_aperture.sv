// BAR2: a fixed part that shows DRAM from its start, behind it a window that shows memory from window_base_i. What lies beyond is refused.
module datum_aperture
  import datum_pkg::*;
(
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic [63:0]              fixed_bytes_i,
  input  logic [63:0]              window_bytes_i,
  input  logic [PaWidth-1:12]      window_frame_i,    // device address of the window, in units of 4 KiB
  input  logic [1:0]               window_ordinal_i,

  input  logic [3:0]               s_axi_awid_i,
  input  logic [39:0]              s_axi_awaddr_i,
  input  logic [7:0]               s_axi_awlen_i,
  input  logic                     s_axi_awvalid_i,
  output logic                     s_axi_awready_o,
  input  logic [DataWidth-1:0]     s_axi_wdata_i,
  input  logic [DataBytes-1:0]     s_axi_wstrb_i,
  input  logic                     s_axi_wlast_i,
  input  logic                     s_axi_wvalid_i,
  output logic                     s_axi_wready_o,
  output logic [3:0]               s_axi_bid_o,
  output logic [1:0]               s_axi_bresp_o,
  output logic                     s_axi_bvalid_o,
  input  logic                     s_axi_bready_i,
  input  logic [3:0]               s_axi_arid_i,
  input  logic [39:0]              s_axi_araddr_i,
  input  logic [7:0]               s_axi_arlen_i,
  input  logic                     s_axi_arvalid_i,
  output logic                     s_axi_arready_o,
  output logic [3:0]               s_axi_rid_o,
  output logic [DataWidth-1:0]     s_axi_rdata_o,
  output logic [1:0]               s_axi_rresp_o,
  output logic                     s_axi_rlast_o,
  output logic                     s_axi_rvalid_o,
  input  logic                     s_axi_rready_i,

  output logic                     awvalid_o,
  input  logic                     awready_i,
  output axi_ax_t                  aw_o,
  output logic                     wvalid_o,
  input  logic                     wready_i,
  output axi_w_t                   w_o,
  input  logic                     bvalid_i,
  output logic                     bready_o,
  input  axi_b_t                   b_i,
  output logic                     arvalid_o,
  input  logic                     arready_i,
  output axi_ax_t                  ar_o,
  input  logic                     rvalid_i,
  output logic                     rready_o,
  input  axi_r_t                   r_i,

  output logic                     idle_o
);
  localparam int unsigned CountWidth = 6;

  typedef struct packed {
    logic [3:0]  id;
    logic [39:0] address;
    logic [3:0]  len;
  } ask_t;

  function automatic phys_t place_of(input logic [39:0] address);
    phys_t where;
    logic [63:0] offset;
    offset        = 64'(address) - fixed_bytes_i;
    where.target  = target_e'(2'b11);    // leads nowhere
    where.address = {12'd0, address[39:6], 6'd0};
    if (64'(address) < fixed_bytes_i) begin
      where.target = TargetDram;
    end else if (offset < window_bytes_i && !window_ordinal_i[1]) begin
      where.target  = window_ordinal_i[0] ? TargetOnchip : TargetDram;
      where.address = {window_frame_i, 12'd0} + {offset[51:6], 6'd0};
    end
    return where;
  endfunction

  ask_t aw_ask, ar_ask;
  logic aw_waits, ar_waits, aw_free, ar_free;
  logic [1:0] aw_count, ar_count, w_count;
  phys_t aw_where, ar_where;
  logic [CountWidth-1:0] writes_q, reads_q;          // unanswered bursts
  target_e write_target_q, read_target_q;            // where they went
  logic unused_lengths;

  assign unused_lengths = ^{s_axi_awlen_i[7:4], s_axi_arlen_i[7:4], b_i.id[5:4], r_i.id[5:4]};

  datum_fifo #(.Width($bits(ask_t)), .DepthLog2(1)) u_aw (
    .clk_i, .rst_ni, .valid_i(s_axi_awvalid_i), .ready_o(s_axi_awready_o), .data_i({s_axi_awid_i, s_axi_awaddr_i, s_axi_awlen_i[3:0]}),
    .valid_o(aw_waits), .ready_i(awvalid_o && awready_i), .data_o(aw_ask), .count_o(aw_count)
  );
  datum_fifo #(.Width($bits(axi_w_t)), .DepthLog2(1)) u_w (
    .clk_i, .rst_ni, .valid_i(s_axi_wvalid_i), .ready_o(s_axi_wready_o), .data_i({s_axi_wdata_i, s_axi_wstrb_i, s_axi_wlast_i}),
    .valid_o(wvalid_o), .ready_i(wready_i), .data_o(w_o), .count_o(w_count)
  );
  datum_fifo #(.Width($bits(ask_t)), .DepthLog2(1)) u_ar (
    .clk_i, .rst_ni, .valid_i(s_axi_arvalid_i), .ready_o(s_axi_arready_o), .data_i({s_axi_arid_i, s_axi_araddr_i, s_axi_arlen_i[3:0]}),
    .valid_o(ar_waits), .ready_i(arvalid_o && arready_i), .data_o(ar_ask), .count_o(ar_count)
  );

  always_comb aw_where = place_of(aw_ask.address);
  always_comb ar_where = place_of(ar_ask.address);

  // Answers of one identifier come in order only from one memory: the next burst waits when it goes to another one.
  assign aw_free = (writes_q == '0 || write_target_q == aw_where.target) && writes_q != '1;
  assign ar_free = (reads_q == '0 || read_target_q == ar_where.target) && reads_q != '1;

  assign awvalid_o = aw_waits && aw_free;
  assign aw_o      = '{id: ManagerIdWidth'(aw_ask.id), addr: aw_where, len: aw_ask.len};
  assign arvalid_o = ar_waits && ar_free;
  assign ar_o      = '{id: ManagerIdWidth'(ar_ask.id), addr: ar_where, len: ar_ask.len};

  logic [1:0] b_count, r_count;
  datum_fifo #(.Width(6), .DepthLog2(1)) u_b (
    .clk_i, .rst_ni, .valid_i(bvalid_i), .ready_o(bready_o), .data_i({b_i.id[3:0], b_i.resp}),
    .valid_o(s_axi_bvalid_o), .ready_i(s_axi_bready_i), .data_o({s_axi_bid_o, s_axi_bresp_o}), .count_o(b_count)
  );
  datum_fifo #(.Width(DataWidth + 7), .DepthLog2(1)) u_r (
    .clk_i, .rst_ni, .valid_i(rvalid_i), .ready_o(rready_o), .data_i({r_i.id[3:0], r_i.data, r_i.resp, r_i.last}),
    .valid_o(s_axi_rvalid_o), .ready_i(s_axi_rready_i), .data_o({s_axi_rid_o, s_axi_rdata_o, s_axi_rresp_o, s_axi_rlast_o}),
    .count_o(r_count)
  );

  assign idle_o = !s_axi_awvalid_i && !s_axi_wvalid_i && !s_axi_arvalid_i && aw_count == '0 && w_count == '0 && ar_count == '0
                  && writes_q == '0 && reads_q == '0 && b_count == '0 && r_count == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      writes_q <= '0;
      reads_q  <= '0;
    end else begin
      writes_q <= writes_q + CountWidth'(awvalid_o && awready_i) - CountWidth'(bvalid_i && bready_o);
      reads_q  <= reads_q + CountWidth'(arvalid_o && arready_i) - CountWidth'(rvalid_i && rready_o && r_i.last);
    end
    if (awvalid_o && awready_i) write_target_q <= aw_where.target;
    if (arvalid_o && arready_i) read_target_q <= ar_where.target;
  end
endmodule
