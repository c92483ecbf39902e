// On-chip memory (ordinal 1): one access of 64 bytes a cycle, reads and writes in turn.
module datum_onchip
  import datum_pkg::*;
#(
  parameter int unsigned Bytes = 262144
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       awvalid_i,
  output logic       awready_o,
  input  fabric_ax_t aw_i,
  input  logic       wvalid_i,
  output logic       wready_o,
  input  axi_w_t     w_i,
  output logic       bvalid_o,
  input  logic       bready_i,
  output fabric_b_t  b_o,
  input  logic       arvalid_i,
  output logic       arready_o,
  input  fabric_ax_t ar_i,
  output logic       rvalid_o,
  input  logic       rready_i,
  output fabric_r_t  r_o,
  output logic       idle_o
);
  localparam int unsigned Words = Bytes / DataBytes;
  localparam int unsigned WordWidth = $clog2(Words);

  logic [DataWidth-1:0]     words_q[Words];
  logic [3:0]               write_beat_q, read_beat_q;
  logic                     read_last_q;         // the last access was a read
  logic                     can_write, can_read, write, read, write_last, read_last;
  logic [WordWidth-1:0]     write_word, read_word, word;
  logic [DataWidth-1:0]     mask;

  // The read data register and what goes with it.
  logic                     data_valid_q;
  logic [DataWidth-1:0]     data_q;
  logic [FabricIdWidth-1:0] id_q;
  logic                     last_q;
  logic                     buffer_room, answer_room;
  logic [2:0]               buffer_count, answer_count;
  logic                     unused_bits;

  assign unused_bits = ^{aw_i.addr, ar_i.addr, w_i.last};

  // Contents are zero when the device is configured, and no reset changes them.
  initial for (int unsigned i = 0; i < Words; i++) words_q[i] = '0;

  assign write_last = write_beat_q == aw_i.len;
  assign read_last  = read_beat_q == ar_i.len;
  assign write_word = aw_i.addr.address[WordWidth+5:6] + WordWidth'(write_beat_q);
  assign read_word  = ar_i.addr.address[WordWidth+5:6] + WordWidth'(read_beat_q);

  assign can_write = awvalid_i && wvalid_i && (answer_room || !write_last);
  assign can_read  = arvalid_i && buffer_count < 3'd3;
  assign write     = can_write && (!can_read || read_last_q);
  assign read      = can_read && !write;
  assign word      = write ? write_word : read_word;
  assign wready_o  = write;
  assign awready_o = write && write_last;
  assign arready_o = read && read_last;

  always_comb begin
    mask = '0;
    if (write) for (int unsigned i = 0; i < DataBytes; i++) mask[8*i+:8] = {8{w_i.strb[i]}};
  end

  always_ff @(posedge clk_i) begin
    if (write) words_q[word] <= (words_q[word] & ~mask) | (w_i.data & mask);   // byte enables of the memory
    if (read) begin
      data_q <= words_q[word];
      id_q   <= ar_i.id;
      last_q <= read_last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_beat_q <= '0;
      read_beat_q  <= '0;
      read_last_q  <= 1'b0;
      data_valid_q <= 1'b0;
    end else begin
      if (write) write_beat_q <= write_last ? '0 : write_beat_q + 1'b1;
      if (read) read_beat_q <= read_last ? '0 : read_beat_q + 1'b1;
      if (write || read) read_last_q <= read;
      data_valid_q <= read;
    end
  end

  logic unused_buffer_ready;
  datum_fifo #(.Width($bits(fabric_r_t)), .DepthLog2(2)) u_buffer (
    .clk_i, .rst_ni, .valid_i(data_valid_q), .ready_o(unused_buffer_ready), .data_i({id_q, data_q, AxiOkay, last_q}),
    .valid_o(rvalid_o), .ready_i(rready_i), .data_o(r_o), .count_o(buffer_count)
  );
  datum_fifo #(.Width($bits(fabric_b_t)), .DepthLog2(2)) u_answer (
    .clk_i, .rst_ni, .valid_i(write && write_last), .ready_o(answer_room), .data_i({aw_i.id, AxiOkay}),
    .valid_o(bvalid_o), .ready_i(bready_i), .data_o(b_o), .count_o(answer_count)
  );
  assign buffer_room = buffer_count < 3'd4;
  assign idle_o      = !awvalid_i && !wvalid_i && !arvalid_i && !data_valid_q && buffer_count == '0 && answer_count == '0;

  buffer_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni) data_valid_q |-> buffer_room);

  if (Words < 2 || Words * DataBytes != Bytes) begin : gen_bad
    $error("Bytes is no multiple of the data width");
  end
endmodule
