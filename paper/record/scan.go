package record

import (
	"bytes"
	"strconv"

	"nodemask/stats"
)

// A scanner reads a line of JSON as this program writes it: fields in their order, without blanks, escapes or numbers
// out of the ordinary. It reads nothing that encoding/json would read otherwise; whatever it fails at is left to that.
type scanner struct {
	rest   []byte
	failed bool
	*slabs
}

// slabs holds what many lines share: texts that repeat, and arrays that lists are cut from.
type slabs struct {
	texts  map[string]string
	floats []float64
	ints   []int
	rows   [][]float64
}

// slabSize is how many elements an array has that lists are cut from, and longestRow how many a list has that may begin
// in it.
const slabSize, longestRow = 1 << 13, 64

// room returns a slab with room for a row behind what others use of it.
func room[T any](slab []T) []T {
	if cap(slab)-len(slab) < longestRow {
		return make([]T, 0, slabSize)
	}
	return slab
}

// has steps over a text and reports whether it came next.
func (s *scanner) has(text string) bool {
	if len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		return false
	}
	s.rest = s.rest[len(text):]
	return true
}

// needs steps over a text that has to come next.
func (s *scanner) needs(text string) { s.failed = !s.has(text) || s.failed }

// text reads a string of printable ASCII.
func (s *scanner) text() string {
	s.needs(`"`)
	end := bytes.IndexByte(s.rest, '"')
	if s.failed || end < 0 {
		s.failed = true
		return ""
	}
	raw := s.rest[:end]
	s.rest = s.rest[end+1:]
	if text, ok := s.texts[string(raw)]; ok {
		return text
	}
	for _, c := range raw {
		if c < ' ' || c > '~' || c == '\\' {
			s.failed = true
			return ""
		}
	}
	text := string(raw)
	s.texts[text] = text
	return text
}

// digits steps over digits, of which there has to be one, and goes on with the decimal number that they continue.
func (s *scanner) digits(number uint64) uint64 {
	i := 0
	for ; i < len(s.rest) && '0' <= s.rest[i] && s.rest[i] <= '9'; i++ {
		number = 10*number + uint64(s.rest[i]-'0')
	}
	s.failed = s.failed || i == 0
	s.rest = s.rest[i:]
	return number
}

// whole reads a number without sign, fraction or exponent, of at most 18 digits.
func (s *scanner) whole() uint64 {
	from := s.rest
	number := s.digits(0)
	n := len(from) - len(s.rest)
	s.failed = s.failed || n > 18 || n > 1 && from[0] == '0'
	return number
}

// powers of ten that are float64s.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// float reads a number.
func (s *scanner) float() float64 {
	from := s.rest
	negative := s.has("-")
	first := s.rest
	number := s.digits(0)
	s.failed = s.failed || len(first)-len(s.rest) > 1 && first[0] == '0'
	digits, decimals := len(first)-len(s.rest), 0
	if s.has(".") {
		point := s.rest
		number = s.digits(number)
		decimals = len(point) - len(s.rest)
		digits += decimals
	}
	exponent := s.has("e") || s.has("E")
	if exponent {
		if !s.has("-") {
			s.has("+")
		}
		s.digits(0)
	}
	if s.failed {
		return 0
	}
	if digits <= 15 && !exponent && !negative { // both are float64s, so their quotient is the nearest one
		return float64(number) / powers[decimals]
	}
	x, err := strconv.ParseFloat(string(from[:len(from)-len(s.rest)]), 64)
	s.failed = err != nil
	return x
}

// list reads a list, each element of which element reads.
func (s *scanner) list(element func()) {
	s.needs("[")
	for !s.failed {
		element()
		if s.has("]") {
			return
		}
		s.needs(",")
	}
}

// row reads a list of numbers.
func (s *scanner) row() []float64 {
	s.floats = room(s.floats)
	from := len(s.floats)
	s.list(func() { s.floats = append(s.floats, s.float()) })
	return s.floats[from:len(s.floats):len(s.floats)]
}

// table reads a list of lists of numbers.
func (s *scanner) table() [][]float64 {
	s.rows = room(s.rows)
	from := len(s.rows)
	s.list(func() { s.rows = append(s.rows, s.row()) })
	return s.rows[from:len(s.rows):len(s.rows)]
}

// counts reads a list of lists of whole numbers.
func (s *scanner) counts() (all [][]int) {
	s.list(func() {
		s.ints = room(s.ints)
		from := len(s.ints)
		s.list(func() { s.ints = append(s.ints, int(s.whole())) })
		all = append(all, s.ints[from:len(s.ints):len(s.ints)])
	})
	return all
}

// Each of these reads the value of a field that has to come next.
func (s *scanner) textOf(field string) string   { s.needs(field); return s.text() }
func (s *scanner) floatOf(field string) float64 { s.needs(field); return s.float() }
func (s *scanner) countOf(field string) int     { s.needs(field); return int(s.whole()) }

// record reads a record from its seed on, as [Line] writes it.
func (s *scanner) record(r *Record) {
	count := func(field string, into *int) {
		if s.has(field) {
			*into = int(s.whole())
		}
	}
	text := func(field string, into *string) {
		if s.has(field) {
			*into = s.text()
		}
	}
	score := func(field string, into **float64) {
		if s.has(field) {
			*into = new(s.float())
		}
	}
	losses := func(field string, into *[]float64) {
		if s.has(field) {
			*into = s.row()
		}
	}
	s.needs(seedField)
	r.Seed = s.whole()
	s.needs(`,"split_seed":`)
	r.SplitSeed = s.whole()
	r.SplitHash = s.textOf(`,"split_hash":`)
	r.MacroF1 = s.floatOf(`,"macro_f1":`)
	r.MicroF1 = s.floatOf(`,"micro_f1":`)
	r.Accuracy = s.floatOf(`,"accuracy":`)
	if s.has(`,"mad":{"hidden":`) {
		r.MAD = &stats.Smoothness{Hidden: s.float(), Logits: s.floatOf(`,"logits":`), Softmax: s.floatOf(`,"softmax":`)}
		s.needs("}")
	}
	count(`,"nodes":`, &r.Nodes)
	count(`,"nodes_reached":`, &r.NodesReached)
	count(`,"nodes_cached":`, &r.NodesCached)
	score(`,"macro_f1_together":`, &r.MacroF1Together)
	score(`,"macro_f1_cached":`, &r.MacroF1Apart)
	r.ValidationF1 = s.floatOf(`,"validation_macro_f1":`)
	r.Loss = s.floatOf(`,"validation_loss":`)
	r.BestEpoch = s.countOf(`,"best_epoch":`)
	r.Epochs = s.countOf(`,"epochs":`)
	r.Seconds = s.floatOf(`,"seconds":`)
	r.Backend = s.textOf(`,"backend":`)
	text(`,"kernels":`, &r.Kernels)
	text(`,"slower":`, &r.Slower)
	text(`,"digits":`, &r.Digits)
	r.Device = s.textOf(`,"device":`)
	r.Version = s.textOf(`,"version":`)
	text(`,"date":`, &r.Date)
	losses(`,"train_losses":`, &r.TrainLosses)
	losses(`,"validation_losses":`, &r.ValidationLosses)
}

// trajectory reads a record with readings from its seed on, as [Line] writes it.
func (s *scanner) trajectory(r *Record) {
	s.needs(seedField)
	r.Seed = s.whole()
	r.SplitSeed = r.Seed
	r.SplitHash = s.textOf(`,"split":`)
	r.Readings = &Readings{}
	s.needs(`,"f1":`)
	r.Readings.F1 = s.table()
	if s.has(`,"cached":`) {
		r.Readings.Cached = s.table()
	}
	s.needs(`,"validation_f1":`)
	r.Readings.ValidationF1 = s.table()
	s.needs(`,"best_epochs":`)
	r.Readings.BestEpochs = s.counts()
	r.Epochs = s.countOf(`,"epochs":`)
	r.Seconds = s.floatOf(`,"seconds":`)
	r.Backend = s.textOf(`,"backend":`)
	if s.has(`,"digits":`) {
		r.Digits = s.text()
	}
	r.Version = s.textOf(`,"version":`)
	r.Protocol = s.textOf(`,"protocol":`)
}
