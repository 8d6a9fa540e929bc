package triton

// Agreement describes y[i] = the inner products of each head's share of x[r] and h[columns[i]], for each entry i of row
// r: y [entries, heads].
type Agreement struct {
	Rows, Width, Heads int
	// Leaky has y[i] = Σ a·LeakyReLU(x[r] + h[columns[i]]) over each head's share instead: a [Trials, width], slope [1].
	Leaky bool
	// Trials is how many trials the rows are of, as many of each, one after the other; 0: 1.
	Trials int
	Long   bool // as in [Attend]
}

// Kernel returns it as a kernel of offsets, columns, x, h, a and slope, if there are any, and y. Each program has a row
// and a head.
func (a Agreement) Kernel() Kernel {
	share, wide, deep, warps := headTile(a.Width, a.Heads, a.Long)
	arguments := []string{"offsets", "columns", "x", "h"}
	if a.Leaky {
		arguments = append(arguments, "a", "slope")
	}
	arguments = append(arguments, "y")
	k := Kernel{Name: "nodemask_agreement", Grid: [2]int{a.Rows, a.Heads}, Warps: warps, Outputs: 1, arguments: arguments}
	return k.printed(func(p *printer, at map[string]value) {
		row, head := p.program("x"), p.program("y")
		from, to := p.entriesOf(row, at["offsets"])
		column := p.upTo(wide)
		valid := p.compare("slt", column, p.int(share))
		column = p.op("addi", column, p.op("muli", head, p.int(share)))
		x := p.column(p.get(at["x"], p.op("addi", column, p.op("muli", row, p.int(a.Width))), &valid))
		pair := func(h value) value { return p.op("mulf", x, h) }
		if a.Leaky {
			own := p.op("muli", p.trialOf(row, a.Rows, a.Trials), p.int(a.Width))
			weights, slope := p.column(p.get(at["a"], p.op("addi", column, own), &valid)), p.get(at["slope"], p.int(0), nil)
			pair = func(h value) value {
				sum := p.op("addf", x, h)
				return p.op("mulf", p.choose(p.isBelowZero(sum), p.op("mulf", sum, slope), sum), weights)
			}
		}
		p.loop(from, to, p.int(deep), p.int(0), func(first, state value) value {
			entry := p.op("addi", p.upTo(deep), first)
			live := p.compare("slt", entry, to)
			index := p.op("muli", p.get(at["columns"], entry, &live), p.int(a.Width))
			there := p.op("andi", p.as(p.column(valid), []int{wide, deep}), p.row(live))
			h := p.get(at["h"], p.op("addi", p.as(p.row(index), []int{wide, deep}), p.column(column)), &there)
			p.put(at["y"], p.op("addi", p.op("muli", entry, p.int(a.Heads)), head), p.fold("addf", pair(h)), live)
			return state
		})
	})
}
