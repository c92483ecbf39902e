// Rules of the borders of datum_dma, bound to it: what its surroundings may rely on whatever is inside. Counts are of this checker's own making,
// from the handshakes alone.
module datum_dma_rules
  import datum_pkg::*;
#(
  parameter int unsigned ChannelCount = 4,
  localparam int unsigned TranslatorCount = 2 * ChannelCount + 1,
  localparam int unsigned ManagerCount = ChannelCount + 1
) (
  input logic                                 clk_i,
  input logic                                 rst_ni,
  input logic [TranslatorCount-1:0]           tr_req_valid_o,
  input translate_req_t [TranslatorCount-1:0] tr_req_o,
  input logic [TranslatorCount-1:0]           tr_req_ready_i,
  input logic [TranslatorCount-1:0]           tr_rsp_valid_i,
  input logic                                 drain_req_i,
  input logic                                 drain_ack_o,
  input logic [ManagerCount-1:0]              arvalid_o,
  input axi_ax_t [ManagerCount-1:0]           ar_o,
  input logic [ManagerCount-1:0]              arready_i,
  input logic [ManagerCount-1:0]              rvalid_i,
  input axi_r_t [ManagerCount-1:0]            r_i,
  input logic [ManagerCount-1:0]              rready_o,
  input logic [ManagerCount-1:0]              awvalid_o,
  input axi_ax_t [ManagerCount-1:0]           aw_o,
  input logic [ManagerCount-1:0]              awready_i,
  input logic [ManagerCount-1:0]              wvalid_o,
  input axi_w_t [ManagerCount-1:0]            w_o,
  input logic [ManagerCount-1:0]              wready_i,
  input logic [ManagerCount-1:0]              bvalid_i,
  input logic [ManagerCount-1:0]              bready_o,
  input logic                                 irq_valid_o,
  input logic [6:0]                           irq_vector_o,
  input logic                                 irq_ready_i,
  input logic                                 fault_valid_o,
  input fault_t                               fault_o,
  input logic                                 executing_o,
  input logic                                 quiescent_o
);
  logic [ManagerCount-1:0] manager_idle;
  logic                    unused_fault;
  assign unused_fault = ^fault_o;

  for (genvar m = 0; m < ManagerCount; m++) begin : g_manager
    logic [9:0] reads_q, writes_q, data_due_q;   // bursts not answered; bursts whose data has not ended
    logic [3:0] beat_q;
    logic       ar_go, r_end, aw_go, w_go, w_end, b_go;
    target_e    read_target_q, write_target_q;

    assign ar_go = arvalid_o[m] && arready_i[m];
    assign r_end = rvalid_i[m] && rready_o[m] && r_i[m].last;
    assign aw_go = awvalid_o[m] && awready_i[m];
    assign w_go  = wvalid_o[m] && wready_i[m];
    assign w_end = w_go && w_o[m].last;
    assign b_go  = bvalid_i[m] && bready_o[m];
    assign manager_idle[m] = reads_q == '0 && writes_q == '0 && !arvalid_o[m] && !awvalid_o[m] && !wvalid_o[m];

    always_ff @(posedge clk_i) begin
      reads_q    <= reads_q + 10'(ar_go) - 10'(r_end && reads_q != '0);
      writes_q   <= writes_q + 10'(aw_go) - 10'(b_go && writes_q != '0);
      data_due_q <= data_due_q + 10'(aw_go) - 10'(w_end);
      if (w_go)  beat_q <= w_o[m].last ? '0 : beat_q + 1'b1;
      if (ar_go) read_target_q <= ar_o[m].addr.target;
      if (aw_go) write_target_q <= aw_o[m].addr.target;
      if (!rst_ni) begin
        reads_q    <= '0;
        writes_q   <= '0;
        data_due_q <= '0;
        beat_q     <= '0;
      end
    end

    ar_stays:     assert property (@(posedge clk_i) disable iff (!rst_ni) arvalid_o[m] && !arready_i[m] |=> arvalid_o[m] && $stable(ar_o[m]));
    aw_stays:     assert property (@(posedge clk_i) disable iff (!rst_ni) awvalid_o[m] && !awready_i[m] |=> awvalid_o[m] && $stable(aw_o[m]));
    w_stays:      assert property (@(posedge clk_i) disable iff (!rst_ni) wvalid_o[m] && !wready_i[m] |=> wvalid_o[m] && $stable(w_o[m]));
    ar_aligned:   assert property (@(posedge clk_i) disable iff (!rst_ni) arvalid_o[m] |-> ar_o[m].addr.address[5:0] == '0);
    aw_aligned:   assert property (@(posedge clk_i) disable iff (!rst_ni) awvalid_o[m] |-> aw_o[m].addr.address[5:0] == '0);
    ar_in_page:   assert property (@(posedge clk_i) disable iff (!rst_ni)
                    arvalid_o[m] |-> {1'b0, ar_o[m].addr.address[11:6]} + {3'b0, ar_o[m].len} < 7'd64);
    aw_in_page:   assert property (@(posedge clk_i) disable iff (!rst_ni)
                    awvalid_o[m] |-> {1'b0, aw_o[m].addr.address[11:6]} + {3'b0, aw_o[m].len} < 7'd64);
    data_follows: assert property (@(posedge clk_i) disable iff (!rst_ni) wvalid_o[m] |-> data_due_q != '0);
    one_source:   assert property (@(posedge clk_i) disable iff (!rst_ni)
                    arvalid_o[m] && reads_q != '0 |-> ar_o[m].addr.target == read_target_q);
    one_sink:     assert property (@(posedge clk_i) disable iff (!rst_ni)
                    awvalid_o[m] && writes_q != '0 |-> aw_o[m].addr.target == write_target_q);
    known_answer: assert property (@(posedge clk_i) disable iff (!rst_ni) bvalid_i[m] |-> bready_o[m]);
  end

  for (genvar t = 0; t < TranslatorCount; t++) begin : g_translator
    logic waiting_q;
    always_ff @(posedge clk_i) begin
      if (tr_req_valid_o[t] && tr_req_ready_i[t]) waiting_q <= !tr_rsp_valid_i[t];
      else if (tr_rsp_valid_i[t]) waiting_q <= 1'b0;
      if (!rst_ni) waiting_q <= 1'b0;
    end
    question_stays: assert property (@(posedge clk_i) disable iff (!rst_ni)
                      tr_req_valid_o[t] && !tr_req_ready_i[t] |=> tr_req_valid_o[t] && $stable(tr_req_o[t]));
    one_question:   assert property (@(posedge clk_i) disable iff (!rst_ni) tr_req_valid_o[t] |-> !waiting_q);
    right_kind:     assert property (@(posedge clk_i) disable iff (!rst_ni) tr_req_valid_o[t] |-> tr_req_o[t].write == (t % 2 == 1));
  end

  // The front end's one word a record, whole.
  whole_record:   assert property (@(posedge clk_i) disable iff (!rst_ni)
                    wvalid_o[ChannelCount] |-> w_o[ChannelCount].last && (&w_o[ChannelCount].strb));
  front_end_host: assert property (@(posedge clk_i) disable iff (!rst_ni)
                    arvalid_o[ChannelCount] |-> ar_o[ChannelCount].addr.target == TargetHost);
  drained_idle:   assert property (@(posedge clk_i) disable iff (!rst_ni) drain_ack_o |-> drain_req_i && (&manager_idle));
  drained_stays:  assert property (@(posedge clk_i) disable iff (!rst_ni) drain_ack_o && drain_req_i |=> drain_ack_o || !drain_req_i);
  quiescent_idle: assert property (@(posedge clk_i) disable iff (!rst_ni) quiescent_o |-> (&manager_idle) && !irq_valid_o);
  idle_is_idle:   assert property (@(posedge clk_i) disable iff (!rst_ni) quiescent_o |-> !executing_o);
  vector_stays:   assert property (@(posedge clk_i) disable iff (!rst_ni) irq_valid_o && !irq_ready_i |=> irq_valid_o && $stable(irq_vector_o));
  fault_is_one:   assert property (@(posedge clk_i) disable iff (!rst_ni) fault_valid_o |-> fault_o.status != '0);
endmodule

bind datum_dma datum_dma_rules #(.ChannelCount(ChannelCount)) u_rules (.*);
