// What a harness says: PROVE holds in every cycle in which every ASSUME has held so far. scripts/prove makes assertions of them.
`define PROVE(name, value) logic prove_``name /*verilator public_flat_rd*/; assign prove_``name = (value);
`define ASSUME(name, value) logic assume_``name /*verilator public_flat_rd*/; assign assume_``name = (value);

// The first cycle is one of reset. Later ones may be too.
`define RESET_FIRST \
  logic started_q; \
  initial started_q = 1'b0; \
  always_ff @(posedge clk_i) started_q <= 1'b1; \
  `ASSUME(reset_first, started_q || !rst_ni)

// A value of which nothing is known but that it stays: what is proved with it is proved for each. It is that of the input in the first cycle.
`define ANY(name, input_name) \
  logic [$bits(input_name)-1:0] name; \
  always_ff @(posedge clk_i) if (!started_q) name <= input_name;
