package triton

import "math/bits"

// Sum describes a product with a sparse matrix: y[r] = Σ over the entries i of row r, offsets[r] … offsets[r+1]-1,
// of weight(i)·h[columns[i]].
type Sum struct {
	Rows, Width int
	// Heads is how many weights [entries, heads] an entry has, each for its share of the width, in order; 0: none, all
	// are 1.
	Heads int
	// Positions says that the weights of entry i are in row positions[i], or, with Dropped, that this is its number.
	Positions bool
	// Heard leaves rows of h unread where heard [columns] is zero; Wanted reads nothing for rows where wanted [rows]
	// is, whose y is zero.
	Heard, Wanted bool
	// Dropped drops entries by a hash of their numbers, as dropout does, and reads neither weights nor rows of h for
	// them. Heads must be 1.
	Dropped bool
	// Trials is how many trials the rows are of, as many of each, one after the other; 0: 1. With Dropped, each draws by a
	// row of draw [Trials, 3], and numbers its entries anew.
	Trials int
	// Own says that entry i has a row of h to itself, row i: there are no columns.
	Own bool
	// Leaky adds up weight(i)·LeakyReLU'(target[r] + h[columns[i]]) instead, 1 or slope [1] for each number: target [rows,
	// width]. There must be Heads.
	Leaky bool
	// Greatest takes the greatest instead of the sum, and lowest for rows without entries.
	Greatest bool
	// Split has blocks of so many entries, numbers Split·b … Split·(b+1)-1, added up by [Sum.Parts] if they are all of one
	// row, so that a long row is not left to one program; 0: no row is split. Which entries are added up first depends on
	// the offsets alone.
	Split int
}

// Block is how many entries a block has, where long rows are split.
const Block = 512

// lowest is below every score: that of package kernels.
const lowest = -1e30

// Inputs returns the names of the kernel's inputs, in order; its output is y.
func (s Sum) Inputs() (names []string) {
	for _, a := range []struct {
		has  bool
		name string
	}{{s.Heard, "heard"}, {s.Wanted, "wanted"}, {s.Dropped, "draw"}, {s.Dropped, "scale"}, {s.Leaky, "target"},
		{s.Leaky, "slope"}, {true, "offsets"}, {!s.Own, "columns"}, {true, "h"}, {s.Heads > 0, "weights"},
		{s.Positions, "positions"}, {s.Split > 0, "parts"}} {
		if a.has {
			names = append(names, a.name)
		}
	}
	return names
}

// tile returns how many columns and entries a program has at a time, of a width: 32 numbers for each of a warp's
// threads, at most.
func tile(width int) (columns, entries int) {
	columns = min(1<<bits.Len(uint(width-1)), 128)
	return columns, min(1024/columns, 32)
}

// headTile is the tile of a program that has one head's share of a width: all of it, and entries for each warp.
func headTile(width, heads int, isLong bool) (share, columns, entries, each int) {
	share, each = width/heads, warps(isLong)
	columns = 1 << bits.Len(uint(share-1))
	return share, columns, max(1, min(1024/columns, 32)) * each, each
}

// warps returns how many a program has for a row.
func warps(isLong bool) int {
	if isLong {
		return 4
	}
	return 1
}

// Kernel returns the sum as a kernel. Each program has a row and up to 128 of its columns, and adds up entries in
// tiles, in one order; then blocks, if rows are split: of parts [entries/Split, width].
func (s Sum) Kernel() Kernel {
	return s.kernel("nodemask_sum", s.Rows, func(p *printer, at map[string]value, row value) (all entries) {
		all.row = row
		from, to := p.entriesOf(row, at["offsets"])
		all.from, all.to = s.wanted(p, at, row, from, to)
		if s.Split > 0 {
			size := p.int(s.Split)
			all.first = p.op("divsi", p.op("addi", all.from, p.int(s.Split-1)), size)
			count := p.op("maxsi", p.op("subi", p.op("divsi", all.to, size), all.first), p.int(0))
			all.last = p.op("addi", all.first, count)
			all.before, all.skipped = p.op("muli", all.first, size), p.op("muli", count, size)
			all.to = p.op("subi", all.to, all.skipped)
		}
		return all
	})
}

// Parts returns the kernel of the blocks' sums, for a matrix of so many entries: of the sum's inputs but parts, and
// with the result [entries/Split, width]. Blocks that are not of one row are not read.
func (s Sum) Parts(entriesOfAll int) Kernel {
	size, whole := s.Split, s
	s.Split = 0
	return s.kernel("nodemask_parts", entriesOfAll/size, func(p *printer, at map[string]value, block value) (all entries) {
		all.from = p.op("muli", block, p.int(size))
		end := p.op("addi", all.from, p.int(size))
		// The last row that does not begin behind the block's first entry, by halving.
		steps := bits.Len(uint(s.Rows))
		row := p.loop(p.int(0), p.int(steps), p.int(1), p.int(0), func(i, row value) value {
			next := p.op("minsi", p.op("addi", row, p.op("shrui", p.int(1<<(steps-1)), i)), p.int(s.Rows))
			return p.choose(p.compare("sle", p.get(at["offsets"], next, nil), all.from), next, row)
		})
		row = p.op("minsi", row, p.int(s.Rows-1)) // behind the last entry there is padding
		all.row = row
		isOne := p.compare("sle", end, p.get(at["offsets"], p.op("addi", row, p.int(1)), nil))
		all.from, all.to = whole.wanted(p, at, row, all.from, p.choose(isOne, end, all.from))
		return all
	})
}

// entries are those of a row that a program adds up: from … to-1, of which those not before a number lie further
// behind, and blocks first … last-1.
type entries struct{ row, from, to, before, skipped, first, last value }

// wanted leaves nothing of a row that is not wanted.
func (s Sum) wanted(p *printer, at map[string]value, row, from, to value) (value, value) {
	if s.Wanted {
		to = p.choose(p.compare("une", p.get(at["wanted"], row, nil), p.float(0)), to, from)
	}
	return from, to
}

// kernel returns a kernel that writes so many rows, each the sum of what of returns.
func (s Sum) kernel(name string, rows int, of func(p *printer, at map[string]value, row value) entries) Kernel {
	heads := max(s.Heads, 1)
	share := s.Width / heads
	wide, deep := tile(share)
	blocks := (share + wide - 1) / wide // of a head
	k := Kernel{Name: name, Grid: [2]int{rows, heads * blocks}, Warps: 1, Outputs: 1, arguments: append(s.Inputs(), "y")}
	return k.printed(func(p *printer, at map[string]value) {
		row, block := p.program("x"), p.program("y")
		head, within := p.op("divsi", block, p.int(blocks)), p.op("remsi", block, p.int(blocks))
		column := p.op("addi", p.upTo(wide), p.op("muli", within, p.int(wide)))
		valid := p.compare("slt", column, p.int(share))
		column = p.op("addi", column, p.op("muli", head, p.int(share)))

		of := of(p, at, row)
		var draw [3]value
		var scale, before value // how many entries are of earlier trials
		if s.Dropped {
			trial := p.trialOf(of.row, s.Rows, s.Trials)
			for i := range draw {
				draw[i] = p.get(at["draw"], p.op("addi", p.op("muli", trial, p.int(3)), p.int(i)), nil)
			}
			scale = p.get(at["scale"], p.int(0), nil)
			if before = p.int(0); s.Trials > 1 {
				before = p.get(at["offsets"], p.op("muli", trial, p.int(s.Rows/s.Trials)), nil)
			}
		}
		var target, slope value
		if s.Leaky {
			slope = p.get(at["slope"], p.int(0), nil)
			target = p.row(p.get(at["target"], p.op("addi", column, p.op("muli", of.row, p.int(s.Width))), &valid))
		}
		start, combine := float32(0), "addf"
		if s.Greatest {
			start, combine = lowest, "maxnumf"
		}
		// get reads rows of an array, those that are live.
		get := func(array string, index, live value) value {
			there := p.op("andi", p.as(p.column(live), []int{deep, wide}), p.row(valid))
			return p.get(at[array], p.op("addi", p.op("muli", p.column(index), p.int(s.Width)), p.row(column)), &there, start)
		}
		sum := p.loop(of.from, of.to, p.int(deep), p.float(start, deep, wide), func(first, sum value) value {
			entry := p.op("addi", p.upTo(deep), first)
			live := p.compare("slt", entry, of.to)
			if s.Split > 0 {
				entry = p.choose(p.compare("slt", entry, of.before), entry, p.op("addi", entry, of.skipped))
			}
			number := entry
			if s.Positions {
				number = p.get(at["positions"], entry, &live)
			}
			if s.Dropped {
				bits := p.mix(p.op("addi", p.mix(p.op("xori", p.op("subi", number, before), draw[0])), draw[1]))
				live = p.op("andi", live, p.compare("uge", bits, draw[2]))
				number = entry // weights lie in the matrix's own order
			}
			index := entry
			if !s.Own {
				index = p.get(at["columns"], entry, &live)
			}
			if s.Heard {
				live = p.op("andi", live, p.compare("une", p.get(at["heard"], index, &live), p.float(0)))
			}
			x := get("h", index, live)
			if s.Leaky {
				x = p.choose(p.isBelowZero(p.op("addf", x, target)), p.as(slope, x.shape), p.float(1, x.shape...))
			}
			if s.Heads > 0 {
				w := p.get(at["weights"], p.op("addi", p.op("muli", number, p.int(heads)), head), &live)
				if s.Dropped {
					w = p.op("mulf", w, scale)
				}
				x = p.op("mulf", x, p.column(w))
			}
			return p.op(combine, sum, x)
		})
		if s.Split > 0 {
			sum = p.loop(of.first, of.last, p.int(deep), sum, func(first, sum value) value {
				block := p.op("addi", p.upTo(deep), first)
				return p.op(combine, sum, get("parts", block, p.compare("slt", block, of.last)))
			})
		}
		p.put(at["y"], p.op("addi", column, p.op("muli", row, p.int(s.Width))), p.fold(combine, sum), valid)
	})
}

// trialOf returns the trial that one of their rows is of.
func (p *printer) trialOf(row value, rows, trials int) value {
	if trials < 2 {
		return p.int(0)
	}
	return p.op("divsi", row, p.int(rows/trials))
}

// mix is "lowbias32", by which dropout draws.
func (p *printer) mix(x value) value {
	shifted := func(n int) value { return p.op("xori", x, p.op("shrui", x, p.int(n))) }
	x = shifted(16)
	x = p.op("muli", x, p.int(0x7feb352d))
	x = shifted(15)
	x = p.op("muli", x, p.int(-0x7b935975)) // 0x846ca68b
	return shifted(16)
}
