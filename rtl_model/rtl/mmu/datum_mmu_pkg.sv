// Types inside the MMU.
package datum_mmu_pkg;
  import datum_pkg::*;

  localparam int unsigned LevelBits = 9;
  localparam int unsigned VpnWidth = VaWidth - PageShift;

  // A leaf entry that was found, or why there is none (`reason` of the register description, 0: found). `frame` is that of the leaf's first page.
  typedef struct packed {
    target_e                    target;
    logic [PaWidth-1:PageShift] frame;
    logic [1:0]                 size;      // 0: 4 KiB, 1: 2 MiB, 2: 1 GiB
    logic                       writable;
    logic [7:0]                 reason;
  } leaf_t;

  // Which bits of a virtual page number tell leaves of the size apart.
  function automatic logic [VpnWidth-1:0] leaf_mask(input logic [1:0] size);
    unique case (size)
      2'd0:    return '1;
      2'd1:    return {{VpnWidth - LevelBits{1'b1}}, {LevelBits{1'b0}}};
      default: return {{VpnWidth - 2 * LevelBits{1'b1}}, {2 * LevelBits{1'b0}}};
    endcase
  endfunction

  // What to drop from a TLB: pages first to last of a space, or everything.
  typedef struct packed {
    logic                  everything;
    logic                  whole_space;
    logic [SpaceWidth-1:0] space;
    logic [VpnWidth-1:0]   first;
    logic [VpnWidth-1:0]   last;
  } invalidation_t;

endpackage
