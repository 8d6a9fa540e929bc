package learn

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/variables"
)

// Masker draws δ on the device, to the last bit what [nmgnn.Mask.Draw] draws by a PCG on the host: a GPU is given a few
// numbers an epoch, not one for each node. Node v's number is the one that the generator gives after so many steps, and
// s steps are a multiplication and an addition modulo 2¹²⁸, which are kept for each node.
type Masker struct {
	jumps *model.Variable // [4, nodes] uint64: high and low words of what is multiplied by and added
	// times and plus are the steps of an epoch, a number each.
	times, plus word
}

// word is a number modulo 2¹²⁸.
type word struct{ high, low uint64 }

func (a word) times(b word) word {
	high, low := bits.Mul64(a.low, b.low)
	return word{high + a.high*b.low + a.low*b.high, low}
}

func (a word) plus(b word) word {
	low, carry := bits.Add64(a.low, b.low, 0)
	high, _ := bits.Add64(a.high, b.high, carry)
	return word{high, low}
}

// A step of math/rand/v2's PCG is s ← s·pcgTimes + pcgPlus; its output is a "DXSM" of s, which has one factor more.
var (
	pcgTimes = word{2549297995355413924, 4865540595714422341}
	pcgPlus  = word{6364136223846793005, 1442695040888963407}
)

const pcgFactor = 0xda942042e4dd58b5

// NewMasker makes what a mask's draws need for so many nodes, of which only some may be masked (nil: all).
func NewMasker(store *model.Store, nodes int, only []int32) (*Masker, error) {
	into := kernels.NewConstants(store, "/"+variables.DataScope+"/mask")
	m := &Masker{jumps: into.Uints("jump", make([]uint64, 4*nodes), 4, nodes)}
	if into.Err() != nil {
		return nil, into.Err()
	}
	return m, m.Replace(only)
}

// Replace has other nodes masked. A node that is never masked has zeros, by which it draws 0 and stays.
func (m *Masker) Replace(only []int32) error {
	nodes := m.jumps.Shape().Dimensions[1]
	all := make([]uint64, 4*nodes)
	m.times, m.plus = word{0, 1}, word{}
	step := func(v int) {
		m.times, m.plus = m.times.times(pcgTimes), m.plus.times(pcgTimes).plus(pcgPlus)
		all[v], all[nodes+v], all[2*nodes+v], all[3*nodes+v] = m.times.high, m.times.low, m.plus.high, m.plus.low
	}
	for _, v := range only {
		step(int(v))
	}
	for v := 0; only == nil && v < nodes; v++ {
		step(v)
	}
	return gomlx.Error(m.jumps.SetValue(tensors.FromFlatDataAndDimensions(all, 4, nodes)))
}

// Next returns what the device draws the next epoch's mask of a trial by, and has the generator go on behind it: its
// state, and below what a number of 53 bits keeps its node.
func (m *Masker) Next(r *rand.PCG, mask nmgnn.Mask) ([]uint64, error) {
	state, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	const begin = 4 // "pcg:"
	if len(state) != begin+16 {
		return nil, fmt.Errorf("a generator's state of %d bytes: expected 20", len(state))
	}
	at := word{binary.BigEndian.Uint64(state[begin:]), binary.BigEndian.Uint64(state[begin+8:])}
	draw := []uint64{at.high, at.low, uint64(math.Ceil(math.Ldexp(mask.KeepRate.Probability(), 53)))}
	at = at.times(m.times).plus(m.plus)
	binary.BigEndian.PutUint64(state[begin:], at.high)
	binary.BigEndian.PutUint64(state[begin+8:], at.low)
	return draw, r.UnmarshalBinary(state)
}

// Draw returns δ for draw [trials, 3], as [Masker.Next] returns it for each, and what a node is multiplied by that may
// be masked and is kept, kept []: [trials·nodes, 1].
func (m *Masker) Draw(draw, kept *Node) *Node {
	g, trials, nodes := draw.Graph(), draw.Shape().Dimensions[0], m.jumps.Shape().Dimensions[1]
	all := func(x *Node) *Node { return BroadcastToDims(x, trials, nodes) }
	given := func(i int) *Node { return all(SliceAxis(draw, 1, AxisElem(i))) }
	jump := func(i int) *Node { return all(SliceAxis(m.jumps.NodeValue(g), 0, AxisElem(i))) }
	number := func(x uint64) *Node { return all(Const(g, [][]uint64{{x}})) }
	times, plus, state := [2]*Node{jump(0), jump(1)}, [2]*Node{jump(2), jump(3)}, [2]*Node{given(0), given(1)}
	// The product's words, and then the sum's.
	low := Mul(times[1], state[1])
	high := Add(highWord(times[1], state[1]), Add(Mul(times[1], state[0]), Mul(times[0], state[1])))
	low = Add(low, plus[1])
	carry := ConvertDType(LessThan(low, plus[1]), dtypes.Uint64)
	high = Add(Add(high, plus[0]), carry)

	high = BitwiseXor(high, BitwiseShiftRightLogicalScalar(high, uint64(32)))
	high = Mul(high, number(pcgFactor))
	high = BitwiseXor(high, BitwiseShiftRightLogicalScalar(high, uint64(48)))
	high = Mul(high, BitwiseOr(low, number(1)))
	isKept := LessThan(BitwiseAnd(high, number(1<<53-1)), given(2))
	// Of nodes that are never masked, what is multiplied by is zero, which a power of an odd number is not.
	value := Where(Equal(times[1], ZerosLike(times[1])), OnesLike(all(Reshape(kept, 1, 1))), all(Reshape(kept, 1, 1)))
	return StopGradient(Reshape(Where(isKept, value, ZerosLike(value)), trials*nodes, 1))
}

// highWord returns the high 64 bits of a product of 128.
func highWord(a, b *Node) *Node {
	lower := func(x *Node) *Node { return BitwiseAnd(x, Const(x.Graph(), [][]uint64{{1<<32 - 1}})) }
	upper := func(x *Node) *Node { return BitwiseShiftRightLogicalScalar(x, uint64(32)) }
	middle := Add(Mul(upper(a), lower(b)), upper(Mul(lower(a), lower(b))))
	other := Add(lower(middle), Mul(lower(a), upper(b)))
	return Add(Mul(upper(a), upper(b)), Add(upper(middle), upper(other)))
}
