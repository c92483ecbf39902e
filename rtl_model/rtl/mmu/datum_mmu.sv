// Address translation: ports with a leaf each, a TLB shared by all of them, a walker, invalidation.
module datum_mmu
  import datum_pkg::*;
  import datum_mmu_pkg::*;
  import datum_reg_pkg::*;
#(
  parameter int unsigned Ports = 9,
  parameter int unsigned Spaces = SpaceCount
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic [Ports-1:0]      req_valid_i,
  input  translate_req_t        req_i[Ports],
  output logic [Ports-1:0]      req_ready_o,
  output logic [Ports-1:0]      rsp_valid_o,
  output translate_rsp_t        rsp_o[Ports],

  // Invalidation: start_i while not busy.
  input  logic                  invalidate_start_i,
  input  invalidation_t         invalidate_what_i,
  output logic                  invalidate_busy_o,
  output logic                  invalidate_done_o,    // pulse
  output logic                  drain_req_o,
  input  logic                  drain_ack_i,

  input  logic                  root_write_i,
  input  logic                  root_high_i,
  input  logic [SpaceWidth-1:0] root_space_i,
  input  logic [31:0]           root_data_i,
  output logic [31:0]           root_data_o,

  output logic                  arvalid_o,
  input  logic                  arready_i,
  output axi_ax_t               ar_o,
  input  logic                  rvalid_i,
  output logic                  rready_o,
  input  axi_r_t                r_i,

  output logic [4:0]            hits_o,               // questions answered without a walk in this cycle
  output logic                  walk_o,               // a walk ended
  output logic                  idle_o
);
  localparam int unsigned PortWidth = $clog2(Ports);
  localparam int unsigned SmallSetsLog2 = 5;
  localparam int unsigned LargeSetsLog2 = 3;
  localparam int unsigned HugeSetsLog2 = 1;

  typedef enum logic [1:0] {
    StateReady,
    StateDrain,     // waits until nobody keeps a translation
    StateBlock,     // takes no question any more; waits for those taken
    StateScan
  } state_e;

  state_e                   state_q;
  invalidation_t            what_q;
  logic [SmallSetsLog2-1:0] set_q;
  logic                     block, flush, scan;

  logic [Ports-1:0]         ask, answer, port_hit, port_busy;
  translate_req_t           question[Ports];
  leaf_t                    answer_leaf;

  // --- ports

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    datum_mmu_port u_port (
      .clk_i, .rst_ni, .block_i(block), .flush_i(flush),
      .req_valid_i   (req_valid_i[p]),
      .req_i         (req_i[p]),
      .req_ready_o   (req_ready_o[p]),
      .rsp_valid_o   (rsp_valid_o[p]),
      .rsp_o         (rsp_o[p]),
      .ask_o         (ask[p]),
      .question_o    (question[p]),
      .answer_valid_i(answer[p]),
      .answer_i      (answer_leaf),
      .hit_o         (port_hit[p]),
      .busy_o        (port_busy[p])
    );
  end

  // --- shared lookup: a choice, and in the next cycle the answer or a place in the line for the walker

  logic [Ports-1:0]     taken_q;        // questions under way, from choice to answer
  logic [Ports-1:0]     walk_wait_q;
  logic                 look_q;
  logic [PortWidth-1:0] look_port_q;
  translate_req_t       look_question_q;
  logic                 choice_any;
  logic [PortWidth-1:0] choice_port;
  logic [Ports-1:0]     choice_grant;
  logic [Ports-1:0]     look_port;      // one-hot
  logic                 small_hit, large_hit, huge_hit, look_hit, look_stalls, fill;
  leaf_t                small_leaf, large_leaf, huge_leaf, look_leaf;

  datum_round_robin #(.Count(Ports)) u_choice (
    .clk_i, .rst_ni, .request_i(ask & ~taken_q), .take_i(!look_stalls), .any_o(choice_any), .index_o(choice_port), .grant_o(choice_grant)
  );


  logic           walk_start, walk_busy, walk_done, walk_any;
  logic [Ports-1:0] walk_grant, walk_port_q;
  logic [PortWidth-1:0] walk_index;
  translate_req_t walk_question_q;
  leaf_t          walk_leaf;

  datum_tlb #(.Size(2'd0), .SetsLog2(SmallSetsLog2)) u_small (
    .clk_i, .rst_ni, .space_i(look_question_q.space), .page_i(look_question_q.page), .hit_o(small_hit), .leaf_o(small_leaf),
    .fill_i(fill && walk_leaf.size == 2'd0), .fill_space_i(walk_question_q.space), .fill_page_i(walk_question_q.page),
    .fill_leaf_i(walk_leaf), .scan_i(scan), .scan_set_i(set_q), .scan_what_i(what_q)
  );
  datum_tlb #(.Size(2'd1), .SetsLog2(LargeSetsLog2)) u_large (
    .clk_i, .rst_ni, .space_i(look_question_q.space), .page_i(look_question_q.page), .hit_o(large_hit), .leaf_o(large_leaf),
    .fill_i(fill && walk_leaf.size == 2'd1), .fill_space_i(walk_question_q.space), .fill_page_i(walk_question_q.page),
    .fill_leaf_i(walk_leaf), .scan_i(scan), .scan_set_i(set_q[LargeSetsLog2-1:0]), .scan_what_i(what_q)
  );
  datum_tlb #(.Size(2'd2), .SetsLog2(HugeSetsLog2)) u_huge (
    .clk_i, .rst_ni, .space_i(look_question_q.space), .page_i(look_question_q.page), .hit_o(huge_hit), .leaf_o(huge_leaf),
    .fill_i(fill && walk_leaf.size == 2'd2), .fill_space_i(walk_question_q.space), .fill_page_i(walk_question_q.page),
    .fill_leaf_i(walk_leaf), .scan_i(scan), .scan_set_i(set_q[HugeSetsLog2-1:0]), .scan_what_i(what_q)
  );

  assign look_leaf = small_hit ? small_leaf : large_hit ? large_leaf : huge_leaf;
  // A refusal never comes from here: rights may have grown since the leaf was read.
  assign look_hit  = look_q && (small_hit || large_hit || huge_hit) && (!look_question_q.write || look_leaf.writable);
  assign look_port = Ports'(1) << look_port_q;

  // The walker's answer goes first; a lookup then stays for a cycle.
  assign look_stalls = look_q && walk_done;
  assign fill        = walk_done && walk_leaf.reason == '0;
  assign answer_leaf = walk_done ? walk_leaf : look_leaf;
  assign answer      = walk_done ? walk_port_q : look_hit ? look_port : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      look_q      <= 1'b0;
      taken_q     <= '0;
      walk_wait_q <= '0;
    end else begin
      taken_q     <= (taken_q | (look_stalls ? '0 : choice_grant)) & ~answer;
      walk_wait_q <= (walk_wait_q | (look_q && !look_hit && !walk_done ? look_port : '0)) & ~(walk_start ? walk_grant : '0);
      if (!look_stalls) look_q <= choice_any;
    end
    if (!look_stalls) begin
      look_port_q     <= choice_port;
      look_question_q <= question[choice_port];
    end
  end

  // --- walks

  logic                       root_valid;
  logic [PaWidth-1:PageShift] root_frame;

  datum_round_robin #(.Count(Ports)) u_walk_choice (
    .clk_i, .rst_ni, .request_i(walk_wait_q), .take_i(walk_start), .any_o(walk_any), .index_o(walk_index), .grant_o(walk_grant)
  );
  assign walk_start = walk_any && !walk_busy;

  always_ff @(posedge clk_i) begin
    if (walk_start) begin
      walk_port_q     <= walk_grant;
      walk_question_q <= question[walk_index];
    end
  end

  datum_walker u_walker (
    .clk_i, .rst_ni, .flush_i(flush), .start_i(walk_start), .question_i(walk_question_q), .busy_o(walk_busy), .done_o(walk_done),
    .leaf_o(walk_leaf), .root_valid_i(root_valid), .root_frame_i(root_frame), .arvalid_o, .arready_i, .ar_o, .rvalid_i, .rready_o, .r_i
  );

  datum_space_roots #(.Spaces(Spaces)) u_roots (
    .clk_i, .rst_ni, .write_i(root_write_i), .high_i(root_high_i), .space_i(root_space_i), .data_i(root_data_i), .data_o(root_data_o),
    .root_space_i(walk_question_q.space), .root_valid_o(root_valid), .root_frame_o(root_frame)
  );

  // --- invalidation

  assign drain_req_o       = state_q != StateReady;
  assign block             = state_q == StateBlock || state_q == StateScan;
  assign scan              = state_q == StateScan;
  assign flush             = scan;
  assign invalidate_busy_o = state_q != StateReady;
  assign invalidate_done_o = scan && set_q == '1;
  assign idle_o            = state_q == StateReady && port_busy == '0 && !walk_busy && !look_q;
  assign hits_o            = 5'($countones(port_hit)) + 5'(look_hit && !walk_done);
  assign walk_o            = walk_done;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StateReady;
    end else begin
      unique case (state_q)
        StateReady: if (invalidate_start_i) state_q <= StateDrain;
        StateDrain: if (drain_ack_i) state_q <= StateBlock;
        StateBlock: if (port_busy == '0 && !walk_busy && drain_ack_i) state_q <= StateScan;
        default:    if (set_q == '1) state_q <= StateReady;
      endcase
    end
    if (state_q == StateReady) what_q <= invalidate_what_i;
    set_q <= scan ? set_q + 1'b1 : '0;
  end

  drained_while_scanning: assert property (@(posedge clk_i) disable iff (!rst_ni) scan |-> drain_ack_i && port_busy == '0);
endmodule
