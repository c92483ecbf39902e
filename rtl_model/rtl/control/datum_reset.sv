// Reset of the board by software. Managers begin no burst any more; when all of theirs are answered the blocks behind them are reset. So no answer
// ever meets a block that did not ask, and the reset ends as soon as memory and host have answered.
module datum_reset (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  output logic busy_o,
  output logic halt_o,
  input  logic halted_i,
  output logic core_rst_no      // of everything but memories, aperture and MSI-X table
);
  localparam logic [2:0] PulseCycles = 3'd4;

  typedef enum logic [1:0] { StateRun, StateHalt, StatePulse } state_e;

  state_e     state_q;
  logic [2:0] wait_q;

  assign busy_o      = state_q != StateRun;
  assign halt_o      = state_q != StateRun;
  assign core_rst_no = rst_ni && state_q != StatePulse;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StateRun;
      wait_q  <= '0;
    end else begin
      wait_q <= state_q == StatePulse ? wait_q - 1'b1 : PulseCycles;
      unique case (state_q)
        StateRun:  if (start_i) state_q <= StateHalt;
        StateHalt: if (halted_i) state_q <= StatePulse;
        default:   if (wait_q == '0) state_q <= StateRun;
      endcase
    end
  end
endmodule
