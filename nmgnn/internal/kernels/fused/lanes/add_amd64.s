#include "textflag.h"

// A block of a row stays in Y0 … Y7 while entries are added to it. EACHn does something for each eight of its n numbers, which are
// at an offset of so many bytes in rows of h and in y, and in a register.
#define EACH8(do) do(0, Y0)
#define EACH16(do) EACH8(do); do(32, Y1)
#define EACH32(do) EACH16(do); do(64, Y2); do(96, Y3)
#define EACH64(do) EACH32(do); do(128, Y4); do(160, Y5); do(192, Y6); do(224, Y7)

#define ZERO(offset, sum) VXORPS sum, sum, sum
#define STORE(offset, sum) VMOVUPS sum, offset(DI)

#define ARGUMENTS \
	MOVQ y+0(FP), DI        \
	MOVQ h+8(FP), SI        \
	MOVQ columns+16(FP), DX \
	MOVQ n+24(FP), CX       \
	MOVQ stride+32(FP), R8  \
	MOVQ weights+40(FP), R9 \
	MOVQ positions+48(FP), R10 \
	XORQ AX, AX

// ROW points to the row of h of entry AX + i.
#define ROW(i, row) \
	MOVLQSX (4*i)(DX)(AX*4), row \
	IMULQ R8, row                \
	ADDQ SI, row

// POSITION is where the weights of entry AX + i are: its own place if there are no positions.
#define POSITION(i, position) \
	LEAQ i(AX), position       \
	TESTQ R10, R10             \
	JZ 2(PC)                   \
	MOVLQSX (4*i)(R10)(AX*4), position

// One entry is added after the other, its product rounded.
#define ADD(offset, sum) VADDPS offset(BX), sum, sum
#define TIMES1(offset, sum) \
	VMULPS offset(BX), Y8, Y9 \
	VADDPS Y9, sum, sum
#define TIMES1_HEAD(offset, sum) \
	VBROADCASTSS (offset/8)(R11), Y8 \
	VMULPS offset(BX), Y8, Y9        \
	VADDPS Y9, sum, sum

// Four entries are added at a time, (w0·h0 + w1·h1) + (w2·h2 + w3·h3), each product and sum rounded; those that are left over, one
// after the other.
#define WEIGHT(i, weight) \
	POSITION(i, R14)          \
	IMULQ step+56(FP), R14    \
	VBROADCASTSS (R9)(R14*1), weight

#define ADD4(offset, sum) \
	VMOVUPS offset(BX), Y8      \
	VADDPS offset(R11), Y8, Y8  \
	VMOVUPS offset(R12), Y9     \
	VADDPS offset(R13), Y9, Y9  \
	VADDPS Y9, Y8, Y8           \
	VADDPS Y8, sum, sum

#define TIMES4(offset, sum) \
	VMULPS offset(BX), Y12, Y8   \
	VMULPS offset(R11), Y13, Y9  \
	VADDPS Y9, Y8, Y8            \
	VMULPS offset(R12), Y14, Y10 \
	VMULPS offset(R13), Y15, Y11 \
	VADDPS Y11, Y10, Y10         \
	VADDPS Y10, Y8, Y8           \
	VADDPS Y8, sum, sum

#define TIMES(offset, sum) \
	VMULPS offset(BX), Y12, Y8 \
	VADDPS Y8, sum, sum

#define FOURS(EACH) \
	ARGUMENTS           \
	EACH(ZERO)          \
	TESTQ R9, R9        \
	JZ sum              \
	SUBQ $4, CX         \
	JL weights          \
weights4:               \
	ROW(0, BX)          \
	ROW(1, R11)         \
	ROW(2, R12)         \
	ROW(3, R13)         \
	WEIGHT(0, Y12)      \
	WEIGHT(1, Y13)      \
	WEIGHT(2, Y14)      \
	WEIGHT(3, Y15)      \
	EACH(TIMES4)        \
	ADDQ $4, AX         \
	CMPQ AX, CX         \
	JLE weights4        \
weights:                \
	ADDQ $4, CX         \
weights1:               \
	CMPQ AX, CX         \
	JGE done            \
	ROW(0, BX)          \
	WEIGHT(0, Y12)      \
	EACH(TIMES)         \
	INCQ AX             \
	JMP weights1        \
sum:                    \
	SUBQ $4, CX         \
	JL ones             \
sum4:                   \
	ROW(0, BX)          \
	ROW(1, R11)         \
	ROW(2, R12)         \
	ROW(3, R13)         \
	EACH(ADD4)          \
	ADDQ $4, AX         \
	CMPQ AX, CX         \
	JLE sum4            \
ones:                   \
	ADDQ $4, CX         \
sum1:                   \
	CMPQ AX, CX         \
	JGE done            \
	ROW(0, BX)          \
	EACH(ADD)           \
	INCQ AX             \
	JMP sum1            \
done:                   \
	EACH(STORE)         \
	VZEROUPPER          \
	RET

// func addRows64(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32)
TEXT ·addRows64(SB), NOSPLIT, $0-56
	ARGUMENTS
	EACH64(ZERO)
	TESTQ R9, R9
	JZ sum

weighted:
	CMPQ AX, CX
	JGE done
	ROW(0, BX)
	POSITION(0, R11)
	VBROADCASTSS (R9)(R11*4), Y8
	EACH64(TIMES1)
	INCQ AX
	JMP weighted

sum:
	CMPQ AX, CX
	JGE done
	ROW(0, BX)
	EACH64(ADD)
	INCQ AX
	JMP sum

done:
	EACH64(STORE)
	VZEROUPPER
	RET

// func addRows8x8(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32)
TEXT ·addRows8x8(SB), NOSPLIT, $0-56
	ARGUMENTS
	EACH64(ZERO)

next:
	CMPQ AX, CX
	JGE done
	ROW(0, BX)
	POSITION(0, R11)
	SHLQ $5, R11
	ADDQ R9, R11
	EACH64(TIMES1_HEAD)
	INCQ AX
	JMP next

done:
	EACH64(STORE)
	VZEROUPPER
	RET

// func addFours64(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)
TEXT ·addFours64(SB), NOSPLIT, $0-64
	FOURS(EACH64)

// func addFours32(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)
TEXT ·addFours32(SB), NOSPLIT, $0-64
	FOURS(EACH32)

// func addFours16(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)
TEXT ·addFours16(SB), NOSPLIT, $0-64
	FOURS(EACH16)

// func addFours8(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)
TEXT ·addFours8(SB), NOSPLIT, $0-64
	FOURS(EACH8)
