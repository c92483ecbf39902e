// datum_mmu_port: one question at a time, each answered once, and nothing forgotten is used.
//
//   - Each question gets exactly one answer, and the port asks the shared TLB while it has none itself.
//   - An answer from the kept leaf is of the same space and page as the leaf, and a write only where the leaf allows it; it holds no refusal.
//   - A leaf that was forgotten answers nothing.
// fault rtl/mmu/datum_mmu_port.sv: "if (flush_i) known_q <= 1'b0;" becomes "if (flush_i && !waiting_q) known_q <= 1'b0;"
// fault rtl/mmu/datum_mmu_port.sv: "(!question_q.write || leaf_q.writable)" becomes "1'b1"
// fault rtl/mmu/datum_mmu_port.sv: "!block_i && (!waiting_q || hit)" becomes "!block_i"
`include "proofs.svh"

module mmu_port_proof
  import datum_pkg::*;
  import datum_mmu_pkg::*;
(
  input logic           clk_i,
  input logic           rst_ni,
  input logic           block_i,
  input logic           flush_i,
  input logic           req_valid_i,
  input translate_req_t req_i,
  input logic           answer_valid_i,
  input leaf_t          answer_i
);
  logic           req_ready, rsp_valid, ask, hit, busy;
  translate_rsp_t rsp;
  translate_req_t question;

  datum_mmu_port dut (
    .clk_i, .rst_ni, .block_i, .flush_i, .req_valid_i, .req_i, .req_ready_o(req_ready), .rsp_valid_o(rsp_valid), .rsp_o(rsp), .ask_o(ask),
    .question_o(question), .answer_valid_i, .answer_i, .hit_o(hit), .busy_o(busy)
  );

  `RESET_FIRST

  logic           waiting_q, answered_q, by_leaf_q, known_q;
  translate_req_t question_q;
  leaf_t          leaf_q;             // the last one that was taken
  translate_req_t leaf_question_q;
  logic           taken;
  assign taken = req_valid_i && req_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waiting_q  <= 1'b0;
      answered_q <= 1'b0;
      by_leaf_q  <= 1'b0;
      known_q    <= 1'b0;
    end else begin
      waiting_q  <= taken || (waiting_q && !hit && !answer_valid_i);
      answered_q <= waiting_q && (hit || answer_valid_i);
      by_leaf_q  <= hit;
      if (flush_i) known_q <= 1'b0;
      else if (answer_valid_i && answer_i.reason == '0) known_q <= 1'b1;
    end
    if (taken) question_q <= req_i;
    if (answer_valid_i && answer_i.reason == '0) begin
      leaf_q          <= answer_i;
      leaf_question_q <= question_q;
    end
  end

  logic same_page;
  always_comb begin
    unique case (leaf_q.size)
      2'd0:    same_page = leaf_question_q.page == question.page;
      2'd1:    same_page = leaf_question_q.page[VaWidth-1:PageShift+9] == question.page[VaWidth-1:PageShift+9];
      default: same_page = leaf_question_q.page[VaWidth-1:PageShift+18] == question.page[VaWidth-1:PageShift+18];
    endcase
  end

  logic unused_bits;
  assign unused_bits = ^{rsp.target, rsp.frame, rsp.size};

  `ASSUME(answers_have_a_question, !started_q || !answer_valid_i || ask)
  `ASSUME(sizes_exist, answer_i.size != 2'd3)
  `PROVE(one_question_at_a_time, !started_q || !rst_ni || !taken || !waiting_q || hit)
  `PROVE(asked_or_answered, !started_q || (waiting_q == (ask || hit) && !(ask && hit)))
  `PROVE(each_is_answered_once, !started_q || rsp_valid == answered_q)
  `PROVE(the_question_stays, !started_q || !waiting_q || question == question_q)
  `PROVE(busy_until_answered, !started_q || busy == (waiting_q || answered_q))
  `PROVE(nothing_forgotten_is_used, !started_q || !hit || known_q)
  `PROVE(the_leaf_is_the_last_one, !started_q || !known_q || (dut.known_q && dut.leaf_q == leaf_q && dut.leaf_space_q == leaf_question_q.space
                                                             && dut.leaf_page_q == leaf_question_q.page && leaf_q.size != 2'd3 && leaf_q.reason == '0))
  `PROVE(of_the_same_page, !started_q || !hit || (leaf_question_q.space == question.space && same_page))
  `PROVE(writes_where_allowed, !started_q || !hit || !question.write || leaf_q.writable)
  `PROVE(a_leaf_refuses_nothing, !started_q || !by_leaf_q || rsp.reason == '0)
endmodule
