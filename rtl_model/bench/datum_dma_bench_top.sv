// datum_dma with ports that a C++ bench can index: one element a manager or translator in place of packed structures.
module datum_dma_bench_top
  import datum_pkg::*;
#(
  parameter int unsigned ChannelCount = 4,
  localparam int unsigned Translators = 2 * ChannelCount + 1,
  localparam int unsigned Managers    = ChannelCount + 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [63:0]             timer_i,
  input  logic [63:0]             cycles_i,
  input  logic [3:0]              channel_enable_i,
  input  logic [31:0]             park_recheck_ns_i,
  input  logic                    kick_all_i,

  input  logic                    reg_valid_i,
  input  logic                    reg_write_i,
  input  logic                    reg_page_i,
  input  logic [5:0]              reg_ring_i,
  input  logic [5:0]              reg_offset_i,
  input  logic [31:0]             reg_wdata_i,
  output logic                    reg_ready_o,
  output logic                    reg_rvalid_o,
  output logic [31:0]             reg_rdata_o,

  output logic [Translators-1:0]  tr_req_valid_o,
  output logic [7:0]              tr_req_space_o [Translators],
  output logic [35:0]             tr_req_page_o [Translators],
  output logic [Translators-1:0]  tr_req_write_o,
  input  logic [Translators-1:0]  tr_req_ready_i,
  input  logic [Translators-1:0]  tr_rsp_valid_i,
  input  logic [1:0]              tr_rsp_target_i [Translators],
  input  logic [39:0]             tr_rsp_frame_i [Translators],
  input  logic [7:0]              tr_rsp_reason_i [Translators],

  input  logic                    drain_req_i,
  output logic                    drain_ack_o,

  output logic [Managers-1:0]     arvalid_o,
  output logic [5:0]              arid_o [Managers],
  output logic [53:0]             araddr_o [Managers],
  output logic [3:0]              arlen_o [Managers],
  input  logic [Managers-1:0]     arready_i,
  input  logic [Managers-1:0]     rvalid_i,
  input  logic [5:0]              rid_i [Managers],
  input  logic [511:0]            rdata_i [Managers],
  input  logic [1:0]              rresp_i [Managers],
  input  logic [Managers-1:0]     rlast_i,
  output logic [Managers-1:0]     rready_o,
  output logic [Managers-1:0]     awvalid_o,
  output logic [5:0]              awid_o [Managers],
  output logic [53:0]             awaddr_o [Managers],
  output logic [3:0]              awlen_o [Managers],
  input  logic [Managers-1:0]     awready_i,
  output logic [Managers-1:0]     wvalid_o,
  output logic [511:0]            wdata_o [Managers],
  output logic [63:0]             wstrb_o [Managers],
  output logic [Managers-1:0]     wlast_o,
  input  logic [Managers-1:0]     wready_i,
  input  logic [Managers-1:0]     bvalid_i,
  input  logic [5:0]              bid_i [Managers],
  input  logic [1:0]              bresp_i [Managers],
  output logic [Managers-1:0]     bready_o,

  output logic                    irq_valid_o,
  output logic [6:0]              irq_vector_o,
  input  logic                    irq_ready_i,
  output logic                    fault_valid_o,
  output logic [5:0]              fault_ring_o,
  output logic [7:0]              fault_status_o,
  output logic [7:0]              fault_reason_o,
  output logic                    fault_write_o,
  output logic [14:0]             fault_space_o,
  output logic [63:0]             fault_address_o,
  output logic [31:0]             fault_sequence_o,
  output logic [3:0]              descriptor_done_o,
  output logic                    executing_o,
  output logic                    quiescent_o,
  output logic                    parked_o
);
  translate_req_t [Translators-1:0] tr_req;
  translate_rsp_t [Translators-1:0] tr_rsp;
  axi_ax_t [Managers-1:0]           ar, aw;
  axi_r_t [Managers-1:0]            r;
  axi_w_t [Managers-1:0]            w;
  axi_b_t [Managers-1:0]            b;
  fault_t                           fault;

  for (genvar t = 0; t < Translators; t++) begin : g_translator
    assign tr_req_space_o[t] = tr_req[t].space;
    assign tr_req_page_o[t]  = tr_req[t].page;
    assign tr_req_write_o[t] = tr_req[t].write;
    assign tr_rsp[t] = '{target: target_e'(tr_rsp_target_i[t]), frame: tr_rsp_frame_i[t], size: '0, reason: tr_rsp_reason_i[t]};
  end
  for (genvar m = 0; m < Managers; m++) begin : g_manager
    assign {arid_o[m], araddr_o[m], arlen_o[m]}  = ar[m];
    assign {awid_o[m], awaddr_o[m], awlen_o[m]}  = aw[m];
    assign {wdata_o[m], wstrb_o[m], wlast_o[m]}  = w[m];
    assign r[m] = '{id: rid_i[m], data: rdata_i[m], resp: rresp_i[m], last: rlast_i[m]};
    assign b[m] = '{id: bid_i[m], resp: bresp_i[m]};
  end
  assign {fault_ring_o, fault_status_o, fault_reason_o, fault_write_o, fault_space_o, fault_address_o, fault_sequence_o} = fault;

  datum_dma #(.ChannelCount(ChannelCount)) u_dma (
    .clk_i, .rst_ni, .timer_i, .cycles_i, .channel_enable_i, .park_recheck_ns_i, .kick_all_i,
    .reg_valid_i, .reg_write_i, .reg_page_i, .reg_ring_i, .reg_offset_i, .reg_wdata_i, .reg_ready_o, .reg_rvalid_o, .reg_rdata_o,
    .tr_req_valid_o, .tr_req_o(tr_req), .tr_req_ready_i, .tr_rsp_valid_i, .tr_rsp_i(tr_rsp), .drain_req_i, .drain_ack_o,
    .arvalid_o, .ar_o(ar), .arready_i, .rvalid_i, .r_i(r), .rready_o,
    .awvalid_o, .aw_o(aw), .awready_i, .wvalid_o, .w_o(w), .wready_i, .bvalid_i, .b_i(b), .bready_o,
    .irq_valid_o, .irq_vector_o, .irq_ready_i, .fault_valid_o, .fault_o(fault), .descriptor_done_o, .executing_o, .quiescent_o, .parked_o
  );
endmodule
