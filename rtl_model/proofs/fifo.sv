// datum_fifo: words come out whole and in their order, and none is lost, whatever both sides do.
//
//   - A word that was taken comes out as it went in, after exactly those that were taken before it.
//   - It says that it has a word when it has one, and room when it has room; the count is that of the words.
//
// One word, any, is followed: the environment chooses at which push. What is proved of it is proved of all.
// fault rtl/stream/datum_fifo.sv: "valid_i && ready_o) words_q" becomes "valid_i) words_q"
// fault rtl/stream/datum_fifo.sv: "assign ready_o = !count_o[DepthLog2]" becomes "assign ready_o = count_o != 3'd5"
`include "proofs.svh"

module fifo_proof (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       valid_i,
  input logic [3:0] data_i,
  input logic       ready_i,
  input logic       follow_i   // the word that is pushed now is the one
);
  logic       ready, valid;
  logic [3:0] data;
  logic [2:0] count;

  datum_fifo #(.Width(4), .DepthLog2(2)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data), .count_o(count)
  );

  `RESET_FIRST

  // Words in it, and those before the one that is followed.
  logic [2:0] held_q, before_q;
  logic       following_q;
  logic [3:0] followed_q;
  logic       push, pop;
  assign push = valid_i && ready;
  assign pop  = valid && ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q      <= '0;
      following_q <= 1'b0;
    end else begin
      held_q <= held_q + 3'(push) - 3'(pop);
      if (!following_q && push && follow_i) begin
        following_q <= 1'b1;
        followed_q  <= data_i;
        before_q    <= held_q - 3'(pop);
      end else if (following_q && pop) begin
        before_q <= before_q - 1'b1;
        if (before_q == '0) following_q <= 1'b0;
      end
    end
  end

  logic [1:0] place;
  assign place = dut.read_q[1:0] + before_q[1:0];

  `PROVE(count_is_that_of_the_words, !started_q || count == held_q)
  `PROVE(never_too_many, !started_q || held_q <= 3'd4)
  `PROVE(valid_when_it_has_one, !started_q || valid == (held_q != '0))
  `PROVE(ready_when_it_has_room, !started_q || ready == (held_q != 3'd4))
  `PROVE(the_followed_word_is_in_it, !started_q || !following_q || before_q < held_q)
  `PROVE(the_followed_word_is_kept, !started_q || !following_q || dut.words_q[place] == followed_q)
  `PROVE(it_comes_out_in_its_turn, !started_q || !(following_q && before_q == '0) || (valid && data == followed_q))
endmodule
