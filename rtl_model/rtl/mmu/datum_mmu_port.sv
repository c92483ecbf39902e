// One translation port: keeps one question, and the leaf of the last answer, from which it answers in the next cycle.
module datum_mmu_port
  import datum_pkg::*;
  import datum_mmu_pkg::*;
(
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           block_i,          // take no question
  input  logic           flush_i,          // forget the leaf

  input  logic           req_valid_i,
  input  translate_req_t req_i,
  output logic           req_ready_o,
  output logic           rsp_valid_o,
  output translate_rsp_t rsp_o,

  output logic           ask_o,            // the question is for the shared TLB; stays until answered
  output translate_req_t question_o,
  input  logic           answer_valid_i,
  input  leaf_t          answer_i,

  output logic           hit_o,            // answered from the leaf in this cycle
  output logic           busy_o
);
  logic                  waiting_q;
  translate_req_t        question_q;
  logic                  known_q;          // the leaf is valid
  leaf_t                 leaf_q;
  logic [SpaceWidth-1:0] leaf_space_q;
  logic [VpnWidth-1:0]   leaf_page_q;

  logic                  hit, answered;
  leaf_t                 used;
  logic [VpnWidth-1:0]   mask;
  logic                  unused_right;

  assign hit = waiting_q && known_q && leaf_space_q == question_q.space && (!question_q.write || leaf_q.writable)
               && ((leaf_page_q ^ question_q.page) & leaf_mask(leaf_q.size)) == '0;
  assign answered    = hit || answer_valid_i;
  assign used        = hit ? leaf_q : answer_i;
  assign mask        = leaf_mask(used.size);
  assign unused_right = used.writable;
  assign ask_o       = waiting_q && !hit;
  assign question_o  = question_q;
  assign hit_o       = hit;
  assign busy_o      = waiting_q || rsp_valid_o;
  assign req_ready_o = !block_i && (!waiting_q || hit);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waiting_q   <= 1'b0;
      known_q     <= 1'b0;
      rsp_valid_o <= 1'b0;
    end else begin
      if (req_valid_i && req_ready_o) waiting_q <= 1'b1;
      else if (answered) waiting_q <= 1'b0;
      rsp_valid_o <= answered;
      if (flush_i) known_q <= 1'b0;
      else if (answer_valid_i && answer_i.reason == '0) known_q <= 1'b1;
    end
    if (req_valid_i && req_ready_o) question_q <= req_i;
    if (answered) begin
      rsp_o.target <= used.target;
      rsp_o.frame  <= used.frame | (40'(question_q.page) & ~40'(mask));
      rsp_o.size   <= used.size;
      rsp_o.reason <= used.reason;
    end
    if (answer_valid_i && answer_i.reason == '0) begin
      leaf_q       <= answer_i;
      leaf_space_q <= question_q.space;
      leaf_page_q  <= question_q.page;
    end
  end

  answer_has_question: assert property (@(posedge clk_i) disable iff (!rst_ni) answer_valid_i |-> waiting_q && !hit);
endmodule
