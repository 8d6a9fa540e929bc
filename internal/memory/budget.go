package memory

import "fmt"

// Memory that a file may take, whatever its content claims: a base, and an amount per byte.
const (
	anyway  = 256 << 20
	perByte = 64
)

// step is how many bytes are taken between two checks of free memory; Reserve stays free for everything else.
const (
	step    = 16 << 20
	Reserve = 64 << 20
)

// Budget counts the memory that a file's content takes.
type Budget struct{ size, taken, looked int64 }

// NewBudget returns the budget of a file of size bytes.
func NewBudget(size int64) Budget { return Budget{size: size} }

// Take returns an error if the extra bytes exceed what a file of this size may need or this process may have.
func (b *Budget) Take(bytes int64) error {
	if most := anyway + perByte*b.size; bytes < 0 || bytes > most-b.taken {
		return fmt.Errorf("its content takes more than %s of memory, too much for a file of %s: expected one that is not "+
			"made to grow so", Text(most), Text(b.size))
	}
	b.taken += bytes
	if b.taken-b.looked < step {
		return nil
	}
	// A growing list briefly exists twice, and the graph itself comes later.
	need := b.taken/2 + 2*(b.taken-b.looked) + Reserve
	b.looked = b.taken
	return Fits(need)
}

// Fits returns an error if this process may not have that many bytes.
func Fits(bytes int64) error {
	if left, ok := Get(); ok && bytes > left.Bytes {
		return fmt.Errorf("this takes about %s of memory more, and %s has %s left: free some, or take a smaller graph",
			Text(bytes), left.Of, Text(left.Bytes))
	}
	return nil
}
