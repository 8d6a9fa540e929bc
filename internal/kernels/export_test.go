package kernels

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
)

// AgreementBlock is how many slots a block of a chain's agreement has.
const AgreementBlock = agreementBlock

// ChainLayout returns the slot of each entry of a matrix and the number of slots, as a chain lays them out.
func ChainLayout(m csr.Matrix) (slotOf []int32, slots int) {
	p := newChain(NewConstants(model.NewStore(), "/data/m"), m)
	return p.slotOf(), p.slots()
}

// SumHeads adds up each head's share of x: [rows, width] → [rows, heads].
func SumHeads(x *Node, heads int) *Node { return sumHeads(x, heads) }

// InBlocks has products drop so many numbers at a time.
func InBlocks(d Dropped, numbers int) Dropped {
	d.block = numbers
	return d
}
