// datum_fifo with two words, as it stands at the ports of the board (datum_host_port): a buffer that breaks paths and costs no throughput.
//
//   - What it offers stays until it is taken.
//   - Neither side's ready or valid of a cycle depends on the other's: with a word held and one free place both go on, so a stream flows at one word a
//     cycle.
//   - Words come out in the order in which they went in: it holds exactly the last ones that were taken in.
// fault rtl/stream/datum_fifo.sv: "assign valid_o = write_q != read_q" becomes "assign valid_o = write_q != read_q && valid_i"
// fault rtl/stream/datum_fifo.sv: "data_o  = words_q[read_q" becomes "data_o  = words_q[write_q"
`include "proofs.svh"

module skid_proof (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       valid_i,
  input logic [3:0] data_i,
  input logic       ready_i
);
  logic       ready, valid;
  logic [3:0] data;
  logic [1:0] count;

  datum_fifo #(.Width(4), .DepthLog2(1)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data), .count_o(count)
  );

  `RESET_FIRST

  // The same buffer, written as the two words that it may hold.
  logic       first_valid_q, second_valid_q;
  logic [3:0] first_q, second_q;
  logic       waited_q, streamed_q;
  logic [3:0] waiting_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_valid_q  <= 1'b0;
      second_valid_q <= 1'b0;
      waited_q       <= 1'b0;
      streamed_q     <= 1'b0;
    end else begin
      if (valid && ready_i) begin
        first_valid_q  <= second_valid_q || (valid_i && ready);
        first_q        <= second_valid_q ? second_q : data_i;
        second_valid_q <= 1'b0;
      end else if (valid_i && ready) begin
        if (first_valid_q) begin
          second_valid_q <= 1'b1;
          second_q       <= data_i;
        end else begin
          first_valid_q <= 1'b1;
          first_q       <= data_i;
        end
      end
      waited_q   <= valid && !ready_i;
      streamed_q <= valid_i && ready && ready_i;
    end
    waiting_q <= data;
  end

  `PROVE(it_holds_what_was_taken_in, !started_q || count == 2'(first_valid_q) + 2'(second_valid_q))
  `PROVE(the_second_follows_the_first, !started_q || first_valid_q || !second_valid_q)
  `PROVE(it_offers_the_first, !started_q || valid == first_valid_q)
  `PROVE(as_it_was, !started_q || !valid || data == first_q)
  `PROVE(the_second_is_kept, !started_q || !second_valid_q || dut.words_q[!dut.read_q[0]] == second_q)
  `PROVE(an_offer_stays, !started_q || !waited_q || (valid && data == waiting_q))
  `PROVE(a_stream_flows, !started_q || !streamed_q || (valid && ready))
endmodule
