#include "textflag.h"

DATA eight<>+0(SB)/4, $0
DATA eight<>+4(SB)/4, $1
DATA eight<>+8(SB)/4, $2
DATA eight<>+12(SB)/4, $3
DATA eight<>+16(SB)/4, $4
DATA eight<>+20(SB)/4, $5
DATA eight<>+24(SB)/4, $6
DATA eight<>+28(SB)/4, $7
GLOBL eight<>(SB), RODATA|NOPTR, $32

#define BROADCAST(value, register, x) \
	MOVL value, AX         \
	VMOVD AX, x            \
	VPBROADCASTD x, register

// The hash, of Y1.
#define MIX \
	VPSRLD $16, Y1, Y2   \
	VPXOR Y2, Y1, Y1     \
	VPMULLD Y8, Y1, Y1   \
	VPSRLD $15, Y1, Y2   \
	VPXOR Y2, Y1, Y1     \
	VPMULLD Y9, Y1, Y1   \
	VPSRLD $16, Y1, Y2   \
	VPXOR Y2, Y1, Y1

// func drop8(y, x *float32, n int, first, key0, key1, bound uint32, scale float32)
TEXT ·drop8(SB), NOSPLIT, $0-44
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	BROADCAST(first+24(FP), Y0, X0)
	VPADDD eight<>(SB), Y0, Y0
	BROADCAST(key0+28(FP), Y5, X5)
	BROADCAST(key1+32(FP), Y6, X6)
	BROADCAST(bound+36(FP), Y7, X7)
	BROADCAST($0x7feb352d, Y8, X8)
	BROADCAST($0x846ca68b, Y9, X9)
	BROADCAST($8, Y10, X10)
	VBROADCASTSS scale+40(FP), Y11
	XORQ BX, BX

next:
	CMPQ BX, CX
	JGE done
	VPXOR Y0, Y5, Y1
	MIX
	VPADDD Y6, Y1, Y1
	MIX
	VPMAXUD Y7, Y1, Y2
	VPCMPEQD Y2, Y1, Y1
	VANDPS Y11, Y1, Y1
	TESTQ SI, SI
	JZ store
	VMULPS (SI)(BX*4), Y1, Y1

store:
	VMOVUPS Y1, (DI)(BX*4)
	VPADDD Y10, Y0, Y0
	ADDQ $8, BX
	JMP next

done:
	VZEROUPPER
	RET
