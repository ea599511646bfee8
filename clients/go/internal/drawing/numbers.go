package drawing

import (
	"errors"
	"math"
	"sort"
)

// ErrValue says that a value is none of the mechanism's. It does not say which value.
var ErrValue = errors.New("the value must be one that the mechanism takes, got another")

// Rows has the running sums of a table's numerators.
type Rows interface {
	// Until is the sum of a row up to and with an output.
	Until(row, output int) uint64
}

// Sums are the running sums of a table, row by row.
type Sums struct {
	Outputs int
	Sums    []uint64
}

// Until is the sum of a row up to and with an output.
func (s *Sums) Until(row, output int) uint64 { return s.Sums[row*s.Outputs+output] }

// Windows are the running sums of a floor form, none of which is kept.
type Windows struct {
	Floors, Edges []uint64 // sums of floors and of extras up to and with each output
	Starts        []uint64 // where the window of each row begins
	Width         uint64
}

// Until is the sum of a row up to and with an output.
func (w *Windows) Until(row, output int) uint64 {
	start, edge := w.Starts[row], w.Edges[output]
	switch {
	case edge <= start:
		return w.Floors[output]
	case edge-start < w.Width:
		return w.Floors[output] + edge - start
	}
	return w.Floors[output] + w.Width
}

// Tails are geometric ones: the step of their lattice, and how often, in 2^53, each binary digit of a number of steps is
// one.
type Tails struct {
	Step float64
	Odds []uint64
}

// Numbers draws reports of numbers.
type Numbers struct {
	Knots     []float64
	Low, High []float64 // ends of outputs
	Rows      Rows
	Refuges   map[float64]float64 // where a report of a cell goes that equals a point inside it
	Tails     *Tails
}

// Index draws the number of an output.
func (n *Numbers) Index(value float64) (int, error) {
	if !n.Takes(value) {
		return 0, ErrValue
	}
	return Drawn(2, func(words *Words) int { return n.output(value, words) })
}

// Report draws a report.
func (n *Numbers) Report(value float64) (float64, error) {
	if !n.Takes(value) {
		return 0, ErrValue
	}
	many := 3
	if n.Tails != nil {
		many = 2 + len(n.Tails.Odds)
	}
	return Drawn(many, func(words *Words) float64 { return n.Draw(value, words) })
}

// Takes says whether a value is of the domain; NaN is not.
func (n *Numbers) Takes(value float64) bool {
	return value >= n.Knots[0] && value <= n.Knots[len(n.Knots)-1]
}

// Draw returns a report of a value that it takes.
func (n *Numbers) Draw(value float64, words *Words) float64 {
	return n.inside(n.output(value, words), words)
}

// Rounded is the number of the knot that a value it takes is rounded to, by an offset from 0 to 1.
func (n *Numbers) Rounded(value, offset float64) int {
	k, share := n.below(value)
	if share > offset {
		k++
	}
	return k
}

// below is the last knot but one at most that is no larger than a value, and the value's share of the way to the next.
func (n *Numbers) below(value float64) (k int, share float64) {
	k = sort.Search(len(n.Knots)-2, func(i int) bool { return n.Knots[i+1] > value })
	return k, float64(value-n.Knots[k]) / float64(n.Knots[k+1]-n.Knots[k])
}

// output draws the knot, then the output. Conversions keep processors from fusing products and sums, which would round
// otherwise than the format has it.
func (n *Numbers) output(value float64, words *Words) int {
	k, share := n.below(value)
	weight := uint64(math.RoundToEven(share * whole))
	row := k
	if words.next()>>11 < weight {
		row++
	}
	word := words.next() >> 11
	return sort.Search(len(n.Low)-1, func(j int) bool { return n.Rows.Until(row, j) > word })
}

func (n *Numbers) inside(j int, words *Words) float64 {
	low, high := n.Low[j], n.High[j]
	if low == high {
		return low
	}
	if n.Tails == nil {
		place := float64(2*(words.next()>>12)+1) / whole
		report := math.Min(low+float64(float64(high-low)*place), math.Nextafter(high, math.Inf(-1)))
		if refuge, equal := n.Refuges[report]; equal {
			return refuge
		}
		return report
	}
	steps := 0.0 // summed from the lowest digit on, in doubles, as every client does
	for i, odds := range n.Tails.Odds {
		if words.next()>>11 < odds {
			steps += math.Ldexp(1, i)
		}
	}
	beyond := float64(steps * n.Tails.Step)
	if math.IsInf(low, -1) {
		return high - beyond
	}
	return low + beyond
}
