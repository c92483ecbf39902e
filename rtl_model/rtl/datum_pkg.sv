// Types shared by the blocks of the board that are not part of the register description.
package datum_pkg;

  // Sizes of the reference build. Every block takes what it needs as a parameter; these are the defaults of the top.
  localparam int unsigned DataWidth = 512;
  localparam int unsigned DataBytes = DataWidth / 8;
  localparam int unsigned RingCount = 64;
  localparam int unsigned RingWidth = 6;
  localparam int unsigned ChannelCount = 4;
  localparam int unsigned SpaceCount = 256;
  localparam int unsigned SpaceWidth = 8;
  localparam int unsigned VaWidth = 48;
  localparam int unsigned PaWidth = 52;
  localparam int unsigned PageShift = 12;

  // Where a translated access goes.
  typedef enum logic [1:0] {
    TargetDram   = 2'd0,
    TargetOnchip = 2'd1,
    TargetHost   = 2'd2
  } target_e;

  // A translated address; also the address format of the AXI ports between the blocks (target on top).
  typedef struct packed {
    target_e              target;
    logic [PaWidth-1:0]   address;
  } phys_t;
  localparam int unsigned PhysWidth = $bits(phys_t);

  // Identifier width of one AXI manager inside the board; the fabric puts the manager's number above it.
  localparam int unsigned ManagerIdWidth = 6;

  // A question to the MMU: one page at a time.
  typedef struct packed {
    logic [SpaceWidth-1:0]         space;
    logic [VaWidth-1:PageShift]    page;
    logic                          write;
  } translate_req_t;

  // The answer, in the order of the questions. `size` 0: 4 KiB, 1: 2 MiB, 2: 1 GiB page, of which `frame` is the 4 KiB frame
  // of the asked page. `reason` is a fault_reason of the register description; 0 means that the access is allowed.
  typedef struct packed {
    target_e                       target;
    logic [PaWidth-1:PageShift]    frame;
    logic [1:0]                    size;
    logic [7:0]                    reason;
  } translate_rsp_t;

  // AXI4 channels between the blocks, one struct a direction; valid and ready stand beside them. Bursts are INCR, full width
  // (awsize/arsize = log2(DataBytes)), at most 16 beats, never across a 4 KiB boundary; wstrb selects bytes; the address may be unaligned
  // only in bits that wstrb covers, so managers send it aligned to DataBytes.
  typedef struct packed {
    logic [ManagerIdWidth-1:0]     id;
    phys_t                         addr;
    logic [3:0]                    len;   // beats - 1
  } axi_ax_t;

  typedef struct packed {
    logic [DataWidth-1:0]          data;
    logic [DataBytes-1:0]          strb;
    logic                          last;
  } axi_w_t;

  typedef struct packed {
    logic [ManagerIdWidth-1:0]     id;
    logic [1:0]                    resp;
  } axi_b_t;

  typedef struct packed {
    logic [ManagerIdWidth-1:0]     id;
    logic [DataWidth-1:0]          data;
    logic [1:0]                    resp;
    logic                          last;
  } axi_r_t;

  // Behind the fabric: the same with the manager's number above its identifier.
  localparam int unsigned ManagerWidth = 4;
  localparam int unsigned FabricIdWidth = ManagerWidth + ManagerIdWidth;

  typedef struct packed {
    logic [FabricIdWidth-1:0]      id;
    phys_t                         addr;
    logic [3:0]                    len;
  } fabric_ax_t;

  typedef struct packed {
    logic [FabricIdWidth-1:0]      id;
    logic [1:0]                    resp;
  } fabric_b_t;

  typedef struct packed {
    logic [FabricIdWidth-1:0]      id;
    logic [DataWidth-1:0]          data;
    logic [1:0]                    resp;
    logic                          last;
  } fabric_r_t;

  localparam logic [1:0] AxiOkay = 2'b00;
  localparam logic [1:0] AxiSlvErr = 2'b10;    // of memory: what was read cannot be corrected
  localparam logic [1:0] AxiDecErr = 2'b11;

  // What a ring failure leaves in the fault log.
  typedef struct packed {
    logic [RingWidth-1:0]          ring;
    logic [7:0]                    status;
    logic [7:0]                    reason;
    logic                          write;
    logic [14:0]                   space;
    logic [63:0]                   address;
    logic [31:0]                   sequence_number;
  } fault_t;

endpackage
