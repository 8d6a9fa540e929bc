package memory

import "fmt"

// What a file's content may take in memory, whatever it claims: so much anyway, and so much for each of its bytes.
const (
	anyway  = 256 << 20
	perByte = 64
)

// step is how many bytes are taken between two looks at what the machine has left, and Reserve what stays free
// for all else.
const (
	step    = 16 << 20
	Reserve = 64 << 20
)

// Budget counts the memory that a file's content takes.
type Budget struct{ size, taken, looked int64 }

// NewBudget returns the budget of a file of so many bytes.
func NewBudget(size int64) Budget { return Budget{size: size} }

// Take returns an error if so many bytes more, which the caller is about to allocate, are more than a file of this size
// may stand for, or more than this process may have.
func (b *Budget) Take(bytes int64) error {
	if most := anyway + perByte*b.size; bytes < 0 || bytes > most-b.taken {
		return fmt.Errorf("its content takes more than %s of memory, too much for a file of %s: expected one that is not "+
			"made to grow so", Text(most), Text(b.size))
	}
	b.taken += bytes
	if b.taken-b.looked < step {
		return nil
	}
	// A list that grows is there twice for a moment, and of what was counted the graph itself is still to come.
	need := b.taken/2 + 2*(b.taken-b.looked) + Reserve
	b.looked = b.taken
	return Fits(need)
}

// Fits returns an error if so many bytes are more than this process may have.
func Fits(bytes int64) error {
	if left, ok := Get(); ok && bytes > left.Bytes {
		return fmt.Errorf("this takes about %s of memory more, and %s has %s left: free some, or take a smaller graph",
			Text(bytes), left.Of, Text(left.Bytes))
	}
	return nil
}
