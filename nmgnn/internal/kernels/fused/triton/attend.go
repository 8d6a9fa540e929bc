package triton

import "slices"

// Attend describes attention: y[r] = Σ over the entries i of row r of kept[i]·h[columns[i]], with alpha the softmax of
// the scores over all entries of a row, and kept = alpha·keep. Each head weighs its share of the width, in order.
type Attend struct {
	Rows, Width, Heads int
	// Scored says that entries have scores e [entries, heads]. Otherwise that of entry i is
	// LeakyReLU(source[columns[i]] + target[r]), with slope [1] for sums that are not positive: source [columns, heads],
	// target [rows, heads].
	Scored bool
	// Dropout says that there are keep [entries, heads] and, as a result, kept; otherwise alpha is both.
	Dropout bool
	// Heard leaves rows of h unread where heard [columns] is zero, which they are then. The softmax sees their entries.
	Heard bool
	// Long gives each program four warps instead of one, which visit four times as many entries at a time: for matrices
	// with long rows.
	Long bool
}

// arguments lists what the kernels forward and backward share, with more before the scores and behind them.
func (a Attend) arguments(before, behind []string) []string {
	var heard []string
	if a.Heard {
		heard = []string{"heard"}
	}
	scores := []string{"source", "target", "slope"}
	if a.Scored {
		scores = []string{"e"}
	}
	return slices.Concat(heard, []string{"offsets", "columns", "h"}, before, scores, behind)
}

// scores are what a program knows of its row and head.
type scores struct {
	Attend
	*printer
	at                            map[string]value
	head, from, to, target, slope value
}

// begin reads what is the same for all entries of a row.
func (a Attend) begin(p *printer, at map[string]value, row, head value) *scores {
	s := &scores{Attend: a, printer: p, at: at, head: head}
	s.from, s.to = p.entriesOf(row, at["offsets"])
	if !a.Scored {
		s.target, s.slope = p.get(at["target"], s.ofHead(row), nil), p.get(at["slope"], p.int(0), nil)
	}
	return s
}

// ofHead returns where an array with a number for each head has that of x, an entry, a row or a column.
func (s *scores) ofHead(x value) value { return s.op("addi", s.op("muli", x, s.int(s.Heads)), s.head) }

// entries returns so many entries from first on, which of them are there, and their columns.
func (s *scores) entries(first value, deep int) (entry, live, column value) {
	entry = s.op("addi", s.upTo(deep), first)
	live = s.compare("slt", entry, s.to)
	return entry, live, s.get(s.at["columns"], entry, &live)
}

// sum returns source + target of entries, what LeakyReLU is applied to.
func (s *scores) sum(column, live value) value {
	return s.op("addf", s.get(s.at["source"], s.ofHead(column), &live), s.target)
}

// leaky multiplies x by the slope where sum is not positive.
func (s *scores) leaky(sum, x value) value {
	return s.choose(s.compare("ole", sum, s.float(0)), s.op("mulf", x, s.slope), x)
}

// score returns the scores of entries, and lowest where there are none.
func (s *scores) score(entry, column, live value) value {
	if s.Scored {
		return s.get(s.at["e"], s.ofHead(entry), &live, lowest)
	}
	sum := s.sum(column, live)
	return s.choose(live, s.leaky(sum, sum), s.float(lowest, sum.shape...))
}

// heard leaves out entries whose row of h is not read.
func (s *scores) heard(column, live value) value {
	if !s.Heard {
		return live
	}
	return s.op("andi", live, s.compare("une", s.get(s.at["heard"], column, &live), s.float(0)))
}

// Kernel returns it as a kernel of what [Attend] names: heard, offsets, columns, h, the scores, keep, and the results
// y [rows, width], alpha and kept [entries, heads], those that there are. Each program has a row and up to 128 columns
// of a head. It visits entries three times in one order: for the greatest score, for the sum of the softmax, and for y.
func (a Attend) Kernel() Kernel {
	share := a.Width / a.Heads
	wide, deep := tile(share)
	warps := warps(a.Long)
	deep *= warps
	blocks := (share + wide - 1) / wide
	var keep []string
	results := []string{"y", "alpha"}
	if a.Dropout {
		keep, results = []string{"keep"}, append(results, "kept")
	}
	all := a.arguments(nil, append(keep, results...))
	k := Kernel{Name: "nodemask_attend", Grid: [2]int{a.Rows, a.Heads * blocks}, Warps: warps, Outputs: len(results),
		arguments: all}
	return k.printed(func(p *printer, at map[string]value) {
		row, block := p.program("x"), p.program("y")
		within := p.op("remsi", block, p.int(blocks))
		s := a.begin(p, at, row, p.op("divsi", block, p.int(blocks)))
		column := p.op("addi", p.upTo(wide), p.op("muli", within, p.int(wide)))
		valid := p.compare("slt", column, p.int(share))
		column = p.op("addi", column, p.op("muli", s.head, p.int(share)))
		writes := p.compare("eq", within, p.int(0)) // of those that share a head, one program writes weights

		greatest := p.fold("maxnumf", p.loop(s.from, s.to, p.int(deep), p.float(lowest, deep), func(first, so value) value {
			entry, live, column := s.entries(first, deep)
			return p.op("maxnumf", so, s.score(entry, column, live))
		}))
		weigh := func(entry, column, live value) value {
			return p.exp(p.op("subf", s.score(entry, column, live), greatest))
		}
		sum := p.fold("addf", p.loop(s.from, s.to, p.int(deep), p.float(0, deep), func(first, so value) value {
			entry, live, column := s.entries(first, deep)
			return p.op("addf", so, weigh(entry, column, live))
		}))
		inverse := p.op("divf", p.float(1), sum)
		y := p.loop(s.from, s.to, p.int(deep), p.float(0, deep, wide), func(first, so value) value {
			entry, live, index := s.entries(first, deep)
			weight := p.op("mulf", weigh(entry, index, live), inverse)
			mine := p.op("andi", live, writes)
			p.put(at["alpha"], s.ofHead(entry), weight, mine)
			if a.Dropout {
				weight = p.op("mulf", weight, p.get(at["keep"], s.ofHead(entry), &live))
				p.put(at["kept"], s.ofHead(entry), weight, mine)
			}
			there := p.op("andi", p.as(p.column(s.heard(index, live)), []int{deep, wide}), p.row(valid))
			h := p.get(at["h"], p.op("addi", p.op("muli", p.column(index), p.int(a.Width)), p.row(column)), &there)
			return p.op("addf", so, p.op("mulf", h, p.column(weight)))
		})
		p.put(at["y"], p.op("addi", column, p.op("muli", row, p.int(a.Width))), p.fold("addf", y), valid)
	})
}

// Backward returns the kernel of its gradient towards the scores, or towards what LeakyReLU makes them from: of heard,
// offsets, columns, h, alpha, kept (with Dropout alone), g, the gradient towards y [rows, width], the scores, y, and
// the results d [entries, heads] and, unless entries are Scored, the sum of d over each row [rows, heads]. Each program
// has a row and a head. What the entries of a row share, Σ kept·⟨g, h⟩, is ⟨g, y⟩, so that one visit is enough.
func (a Attend) Backward() Kernel {
	share, wide, deep, warps := headTile(a.Width, a.Heads, a.Long)
	before := []string{"alpha"}
	if a.Dropout {
		before = append(before, "kept")
	}
	results := []string{"d"}
	if !a.Scored {
		results = append(results, "total")
	}
	all := a.arguments(append(before, "g"), append([]string{"y"}, results...))
	k := Kernel{Name: "nodemask_attend_backward", Grid: [2]int{a.Rows, a.Heads}, Warps: warps, Outputs: len(results),
		arguments: all}
	return k.printed(func(p *printer, at map[string]value) {
		row := p.program("x")
		s := a.begin(p, at, row, p.program("y"))
		column := p.upTo(wide)
		valid := p.compare("slt", column, p.int(share))
		column = p.op("addi", column, p.op("muli", s.head, p.int(share)))
		inRow := p.op("addi", column, p.op("muli", row, p.int(a.Width)))
		g := p.get(at["g"], inRow, &valid)
		shared := p.fold("addf", p.op("mulf", g, p.get(at["y"], inRow, &valid)))
		total := p.loop(s.from, s.to, p.int(deep), p.float(0, deep), func(first, so value) value {
			entry, live, index := s.entries(first, deep)
			there := p.op("andi", p.as(p.column(valid), []int{wide, deep}), p.row(s.heard(index, live)))
			h := p.get(at["h"], p.op("addi", p.row(p.op("muli", index, p.int(a.Width))), p.column(column)), &there)
			alpha := p.get(at["alpha"], s.ofHead(entry), &live)
			kept := alpha
			if a.Dropout {
				kept = p.get(at["kept"], s.ofHead(entry), &live)
			}
			d := p.op("subf", p.op("mulf", kept, p.fold("addf", p.op("mulf", p.column(g), h))), p.op("mulf", alpha, shared))
			if !a.Scored {
				d = s.leaky(s.sum(index, live), d)
			}
			p.put(at["d"], s.ofHead(entry), d, live)
			return p.op("addf", so, d)
		})
		if !a.Scored {
			p.put(at["total"], s.ofHead(row), p.fold("addf", total), p.compare("eq", p.int(0), p.int(0)))
		}
	})
}
