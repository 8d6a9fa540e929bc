package nmgnn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func everyKernel() (plans []Plan) {
	for _, kernel := range Kernels() {
		plans = append(plans, Plan{Kernel: kernel})
	}
	return plans
}

func drawRows(t *rapid.T, name string, rows, width int) [][]float32 {
	x := make([][]float32, rows)
	for r := range x {
		x[r] = make([]float32, width)
		for c := range x[r] {
			x[r][c] = float32(rapid.IntRange(-8, 8).Draw(t, name))
		}
	}
	return x
}

func TestEntriesAreGatheredSpreadTotalledAndComparedAsTheDefinitionsSay(t *testing.T) {
	b := goBackend(t)
	for _, plan := range everyKernel() {
		t.Run(string(plan.Kernel), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSparse(t)
				width := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "width")
				h, x := drawRows(t, "h", s.columns, width), drawRows(t, "x", s.rows, width)
				store := model.NewStore()
				p, err := newProduct(store, "/data/s", s, plan)
				require.NoError(t, err)
				// Padding holds what must not matter: zeros where that is asked for, else the greatest of all.
				weights := drawRows(t, "weights", s.entries(), width)
				slotted := func(padding float32) [][]float32 {
					slots := make([][]float32, p.slots())
					for i := range slots {
						slots[i] = make([]float32, width)
						for c := range slots[i] {
							slots[i][c] = padding
						}
					}
					for i, w := range weights {
						if at := p.slotOf(); at != nil {
							slots[at[i]] = w
						} else {
							slots[i] = w
						}
					}
					return slots
				}
				outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h, x, zeroed, lowered *Node) []*Node {
					return []*Node{p.gather(h), p.spread(x), p.total(zeroed), p.highest(lowered), p.times(h, zeroed)}
				}, h, x, slotted(0), slotted(lowest))
				require.NoError(t, err)
				gathered, spread := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32)
				total, highest, product := make([][]float32, s.rows), make([][]float32, s.rows), make([][]float32, s.rows)
				for r := range s.rows {
					total[r], product[r] = make([]float32, width), make([]float32, width)
					highest[r] = make([]float32, width)
					for c := range width {
						highest[r][c] = lowest
					}
					for i := s.offsets[r]; i < s.offsets[r+1]; i++ {
						slot := int(i)
						if at := p.slotOf(); at != nil {
							slot = int(at[i])
						}
						require.Equal(t, h[s.targets[i]], gathered[slot], "h at the entry's column")
						require.Equal(t, x[r], spread[slot], "x at the entry's row")
						for c := range width {
							total[r][c] += weights[i][c]
							highest[r][c] = max(highest[r][c], weights[i][c])
							product[r][c] += weights[i][c] * h[s.targets[i]][c]
						}
					}
				}
				require.Equal(t, total, outputs[2].Value(), "total")
				require.Equal(t, highest, outputs[3].Value(), "highest")
				require.Equal(t, product, outputs[4].Value(), "as many heads as columns")
			})
		})
	}
}

func TestLongAndShortRowsAreChainedWithoutLosingOrRepeatingAnEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A few very long rows among many short ones: links to links, pieces of pieces.
		s := sparse{columns: 5000, offsets: []int64{0}}
		s.rows = rapid.IntRange(1, 400).Draw(t, "rows")
		for r := range s.rows {
			n := rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 5, 9, 17}).Draw(t, "length")
			if r%97 == 3 {
				n = rapid.IntRange(60, 5000).Draw(t, "long")
			}
			for i := range n {
				s.targets = append(s.targets, int32(i))
			}
			s.offsets = append(s.offsets, int64(len(s.targets)))
		}
		if s.entries() == 0 {
			return
		}
		p := newChainProduct(&variables{store: model.NewStore(), path: "/data/s"}, s)
		seen := map[int32]bool{}
		for _, slot := range p.entry {
			require.False(t, seen[slot], "two entries in one slot")
			seen[slot] = true
			require.Less(t, int(slot), p.size)
		}
		require.Less(t, p.size, 4*s.entries()+64*64, "padding stays within bounds")
	})
}

// nearOf builds the neighbours of a small graph for one computation.
func nearOf(t testing.TB, store *model.Store, plan Plan, train bool, nodes int, pairs [][2]int32) func(r *Random) neighbours {
	t.Helper()
	edges := undirected(t, nodes, pairs)
	a, err := newAdjacency(store, "/data/edges", adjacencyOf(edges), edges.IsSymmetric(), plan, train)
	require.NoError(t, err)
	return func(r *Random) neighbours {
		return neighbours{adjacency: a, train: train, random: r, kept: new(*Node)}
	}
}

func TestSoftmaxIsOverEachNodesNeighboursAndSurvivesScoresThatExpCannotTake(t *testing.T) {
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		store := model.NewStore()
		// 0–1, 0–2; 3 alone. Scores are those of the sources: 1000, 1001, −2000, 5.
		near := nearOf(t, store, plan, true, 4, [][2]int32{{0, 1}, {0, 2}})
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, scores *Node) []*Node {
			n := near(nil)
			alpha := n.Softmax(n.Sources(scores))
			picked := n.WeightedSum(alpha, scores)
			own := n.WithSelf()
			withSelf := own.WeightedSum(own.Softmax(own.Sources(scores)), scores)
			return []*Node{picked, withSelf, n.Degree(scores.Graph()), own.Degree(scores.Graph()), Gradient(ReduceAllSum(picked), scores)[0]}
		}, [][]float32{{1000}, {1001}, {-2000}, {5}})
		require.NoError(t, err)
		// 0 hears 1001 and −2000: all weight on the first. 1 and 2 hear 0 alone. 3 hears nobody: zero.
		require.Equal(t, [][]float32{{1001}, {1000}, {1000}, {0}}, outputs[0].Value())
		// With themselves: 0 weighs 1000, 1001, −2000 by 1:e:0, and so does 1, without the last; 2 hears 1000 and itself; 3 itself.
		mix := float32((1000 + 1001*math.E) / (1 + math.E))
		inDelta(t, []float32{mix, mix, 1000, 5}, flatten(outputs[1].Value().([][]float32)), 1e-3, "with itself")
		require.Equal(t, [][]float32{{2}, {1}, {1}, {0}}, outputs[2].Value())
		require.Equal(t, [][]float32{{3}, {2}, {2}, {1}}, outputs[3].Value())
		// Weights of 1 and 0 do not move: the gradient is that of a plain sum.
		require.Equal(t, [][]float32{{2}, {1}, {0}, {0}}, outputs[4].Value())
	})
}

func TestDropEdgeDropsBothDirectionsInSumsDegreesAndAttentionAlikeAndNeverTheNodeItself(t *testing.T) {
	const n = 40
	var pairs [][2]int32
	for v := range int32(n) {
		for u := range v {
			if (u+v)%3 == 0 {
				pairs = append(pairs, [2]int32{u, v})
			}
		}
	}
	var first [][]float32
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		store := model.NewStore()
		near := nearOf(t, store, plan, true, n, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			r := NewRandom(key)
			dropped := DropEdge{Rate: 0.4}.Apply(Pass{Near: near(r), Random: r}).Near
			g := key.Graph()
			one := DiagonalWithValue(Const(g, float32(1)), n)
			column := Ones(g, shapeOf(n, 1))
			scores := dropped.Sources(ZerosLike(column))
			own := dropped.WithSelf()
			return []*Node{dropped.Sum(one), dropped.Degree(g), dropped.WeightedSum(dropped.Softmax(scores), one), own.Sum(one), own.Degree(g)}
		}, []uint32{3, 9})
		require.NoError(t, err)
		kept, degree := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32)
		attended, own, ownDegree := outputs[2].Value().([][]float32), outputs[3].Value().([][]float32), outputs[4].Value().([][]float32)
		there, edges := 0, 0
		for v := range n {
			sum := float32(0)
			for u := range n {
				require.Equal(t, kept[v][u], kept[u][v], "both directions")
				sum += kept[v][u]
				if u == v {
					require.Equal(t, float32(1), own[v][v], "a node is never dropped from itself")
					continue
				}
				require.Equal(t, kept[v][u], own[v][u], "the same edges with and without the node itself")
				if (u+v)%3 == 0 {
					edges++
					there += int(kept[v][u])
				} else {
					require.Zero(t, kept[v][u])
				}
				if kept[v][u] == 0 {
					require.Zero(t, attended[v][u])
				} else {
					require.InDelta(t, 1/degree[v][0], attended[v][u], 1e-6, "attention is over what is left")
				}
			}
			require.Equal(t, sum, degree[v][0])
			require.Equal(t, sum+1, ownDegree[v][0])
		}
		require.InDelta(t, 0.6, float64(there)/float64(edges), 0.12)
		if first == nil {
			first = kept
		}
		require.Equal(t, first, kept, "the same edges with every kernel and on every backend")
	})
}

func TestDropNodeDropsWholeRowsOfTheFeaturesAndScalesTheOthers(t *testing.T) {
	x := make([][]float32, 60)
	for v := range x {
		x[v] = []float32{float32(v + 1), 0, -1}
	}
	var first [][]float32
	for _, plan := range append(everyKernel(), Plan{Kernel: ChainKernel, DenseFeatures: true}) {
		b := goBackend(t)
		store := model.NewStore()
		edges := undirected(t, len(x), [][2]int32{{0, 1}})
		data, err := newPhaseData(store, "/data/train", edges, sparseRows(x), plan, true)
		require.NoError(t, err)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key, w *Node) []*Node {
			r := NewRandom(key)
			p := DropNode{Rate: 0.25}.Apply(Pass{Near: data.neighbours(true, r), Features: data.input(key.Graph(), true), Random: r})
			return []*Node{p.Features.Node(), Gradient(ReduceAllSum(p.Features.Times(w)), w)[0]}
		}, []uint32{5, 5}, [][]float32{{1}, {1}, {1}})
		require.NoError(t, err)
		got := outputs[0].Value().([][]float32)
		gone, sum := 0, float32(0)
		for v := range got {
			if got[v][0] == 0 {
				require.Equal(t, []float32{0, 0, 0}, got[v])
				gone++
				continue
			}
			inDelta(t, []float32{x[v][0] / 0.75, 0, -1 / 0.75}, got[v], 1e-4, "row %d", v)
			sum += got[v][0]
		}
		require.InDelta(t, 15, gone, 12)
		require.InDelta(t, sum, outputs[1].Value().([][]float32)[0][0], 0.01, "gradients see the same rows")
		if first == nil {
			first = got
		}
		require.Equal(t, first, got, "the same nodes however features are stored")
	}
}

func TestAttentionDropoutDropsTheSameEntriesWithEveryKernel(t *testing.T) {
	var first []float32
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		store := model.NewStore()
		var pairs [][2]int32
		for v := range int32(30) {
			pairs = append(pairs, [2]int32{v, (v + 1) % 30}, [2]int32{v, (v + 7) % 30})
		}
		near := nearOf(t, store, plan, true, 30, pairs)
		output, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, key *Node) *Node {
			n := near(NewRandom(key)).WithSelf()
			g := key.Graph()
			alpha := n.EntryDropout(n.Softmax(n.Sources(Zeros(g, shapeOf(30, 2)))), 0.5)
			return n.WeightedSum(alpha, Concatenate([]*Node{DiagonalWithValue(Const(g, float32(1)), 30), DiagonalWithValue(Const(g, float32(1)), 30)}, 1))
		}, []uint32{8, 1})
		require.NoError(t, err)
		got := tensors.MustCopyFlatData[float32](output)
		dropped := 0
		for v := range 30 {
			for u := range 60 {
				isNear := (u-v)%30 == 0 || (u-v-1)%30 == 0 || (v-u-1)%30 == 0 || (u-v-7)%30 == 0 || (v-u-7)%30 == 0
				if a := got[60*v+u]; isNear && a == 0 {
					dropped++
				} else if isNear {
					require.InDelta(t, 2.0/5, a, 1e-6, "one fifth, doubled")
				} else {
					require.Zero(t, a)
				}
			}
		}
		require.InDelta(t, 150, dropped, 45)
		if first == nil {
			first = got
		}
		inDelta(t, first, got, 1e-6, "the same with every kernel")
	})
}

func TestAttentionIsSoftmaxDropoutAndWeightedSumWithTheirGradients(t *testing.T) {
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		store := model.NewStore()
		r := hostRandom(5, "attention")
		const nodes, heads, width = 40, 2, 6
		var pairs [][2]int32
		for v := range int32(nodes - 2) { // the last two stand alone
			pairs = append(pairs, [2]int32{v, (v + 1) % (nodes - 2)}, [2]int32{v, int32(r.IntN(nodes - 2))})
		}
		near := nearOf(t, store, plan, true, nodes, pairs)
		rows := func(width int) [][]float32 {
			x := make([][]float32, nodes)
			for v := range x {
				x[v] = make([]float32, width)
				for c := range x[v] {
					x[v][c] = float32(r.NormFloat64())
				}
			}
			return x
		}
		for _, withSelf := range []bool{false, true} {
			for _, rate := range []float64{0, 0.4} {
				outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key, source, target, h, factors *Node) []*Node {
					var all []*Node
					for _, apply := range []func(n Neighbours, e *Node) *Node{
						func(n Neighbours, e *Node) *Node { return n.Attention(e, h, rate) },
						func(n Neighbours, e *Node) *Node { return n.WeightedSum(n.EntryDropout(n.Softmax(e), rate), h) },
					} {
						var n Neighbours = near(NewRandom(key))
						if withSelf {
							n = n.WithSelf()
						}
						y := apply(n, Add(n.Sources(source), n.Targets(target)))
						all = append(all, y)
						all = append(all, Gradient(ReduceAllSum(Mul(factors, Mul(y, y))), source, target, h)...)
					}
					return all
				}, []uint32{3, 4}, rows(heads), rows(heads), rows(width), rows(width))
				require.NoError(t, err)
				require.Len(t, outputs, 8)
				for i, what := range []string{"the sum", "∂source", "∂target", "∂h"} {
					inDelta(t, tensors.MustCopyFlatData[float32](outputs[i+4]), tensors.MustCopyFlatData[float32](outputs[i]), 2e-5, "%s", what)
				}
				if i := (nodes - 1) * width; !withSelf {
					require.Equal(t, make([]float32, width), tensors.MustCopyFlatData[float32](outputs[0])[i:], "no neighbours, no sum")
				}
			}
		}
	})
}

func TestAgreementBlockByBlockIsThatOfAllEntriesAtOnce(t *testing.T) {
	b, err := OpenBackend("xla:cpu") // go has no such loops
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	s := sparse{rows: 5000, columns: 5000, offsets: []int64{0}}
	for v := range s.rows {
		for i := range 1 + v%7 {
			s.targets = append(s.targets, int32((v*31+i*977)%s.columns))
		}
		s.offsets = append(s.offsets, int64(len(s.targets)))
	}
	store := model.NewStore()
	product, err := newProduct(store, "/data/s", s, Plan{Kernel: ChainKernel})
	require.NoError(t, err)
	p := product.(*chainProduct)
	require.Greater(t, p.size, 2*agreementBlock)
	require.NotZero(t, p.size%agreementBlock, "the last block overlaps the one before it")
	outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, x, h *Node) []*Node {
		return []*Node{p.agreement(x, h, 2), sumHeads(Mul(p.spread(x), p.gather(h)), 2)}
	}, whole(s.rows, 4, 3), whole(s.columns, 4, 5))
	require.NoError(t, err)
	require.Equal(t, outputs[1].Value(), outputs[0].Value())
}

// whole is rows of small whole numbers that differ.
func whole(rows, width, seed int) [][]float32 {
	x := make([][]float32, rows)
	for v := range x {
		x[v] = make([]float32, width)
		for c := range x[v] {
			x[v][c] = float32((v*seed+c*(seed+2))%17 - 8)
		}
	}
	return x
}

func TestSGATDropsWeightsOfEachHeadsShareInTrainingAlone(t *testing.T) {
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		store := model.NewStore()
		var pairs [][2]int32
		for v := range int32(40) {
			pairs = append(pairs, [2]int32{v, (v + 1) % 40}, [2]int32{v, (v + 9) % 40})
		}
		near := nearOf(t, store, plan, true, 40, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, key, h *Node) []*Node {
			layer := SGAT{Width: 2, Dropout: 0.5, Heads: 2}
			return []*Node{
				layer.Forward(scope.At("layer"), near(NewRandom(key)), Dense(h), nil),
				layer.Forward(scope.At("layer"), near(nil), Dense(h), nil),
				layer.Forward(scope.At("layer"), near(nil), Dense(ZerosLike(h)), nil), // the biases
			}
		}, []uint32{3, 9}, whole(40, 2, 0)) // all entries of a column alike
		require.NoError(t, err)
		trained, tested, biases := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32), outputs[2].Value().([][]float32)
		same := 0
		for v := range trained {
			var fifths [2]float64 // each of five weights of a fifth is dropped or doubled
			for c := range fifths {
				require.InDelta(t, tested[0][c], tested[v][c], 1e-5, "the mean of what is alike")
				fifths[c] = 2.5 * float64((trained[v][c]-biases[v][c])/(tested[v][c]-biases[v][c]))
				require.InDelta(t, math.Round(fifths[c]), fifths[c], 1e-4)
			}
			if math.Round(fifths[0]) == math.Round(fifths[1]) {
				same++
			}
		}
		require.Less(t, same, 30, "the shares drop weights of their own")
	})
}
