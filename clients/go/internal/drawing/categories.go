package drawing

import (
	"encoding/hex"
	"math"
	"sort"
	"strconv"
)

// Oracle draws a report of a category's number, as a file holds it.
type Oracle interface {
	Draw(code int, words *Words) string
	Words() int // how many a draw takes, but for those drawn again
	Law() Law
}

// Law is what reports of several levels must have in common, and how many there are; of more than anybody lists, about.
type Law struct {
	Alike int
	Many  float64
}

// Table has whole outputs.
type Table struct {
	Outputs int
	Rows    Rows
}

// Words is how many a draw takes.
func (t *Table) Words() int { return 1 }

// Law of the reports.
func (t *Table) Law() Law { return Law{t.Outputs, float64(t.Outputs)} }

// Draw returns the output's number.
func (t *Table) Draw(code int, words *Words) string {
	word := words.next() >> 11
	j := sort.Search(t.Outputs-1, func(j int) bool { return t.Rows.Until(code, j) > word })
	return strconv.Itoa(j)
}

// Unary has a bit for each category: one with probability Own / 2^53 at the own place and Other / 2^53 elsewhere.
type Unary struct {
	Size       int
	Own, Other uint64
}

// Words is how many a draw takes.
func (u *Unary) Words() int { return u.Size }

// Law of the reports.
func (u *Unary) Law() Law { return Law{0, math.Ldexp(1, u.Size)} }

// Draw returns the bits in hexadecimal.
func (u *Unary) Draw(code int, words *Words) string {
	bits := newBits(u.Size)
	for k := 0; k < u.Size; k++ {
		odds := u.Other
		if k == code {
			odds = u.Own
		}
		if words.next()>>11 < odds {
			bits.set(k)
		}
	}
	return bits.text()
}

// Subset has sets of Chosen categories, which hold the own one with probability Own / 2^53.
type Subset struct {
	Size, Chosen int
	Own          uint64
}

// Words is how many a draw takes.
func (s *Subset) Words() int { return 1 + s.Chosen }

// Law of the reports.
func (s *Subset) Law() Law { return Law{s.Chosen, sets(s.Size, s.Chosen)} }

// Draw returns the set as bits in hexadecimal.
func (s *Subset) Draw(code int, words *Words) string {
	held := words.next()>>11 < s.Own
	others := choices(s.Size-1, s.Chosen, words) // counted on from the one after the own
	if held {
		others[s.Chosen-1] = s.Size - 1
	}
	bits := newBits(s.Size)
	for _, other := range others {
		bits.set((code + 1 + other) % s.Size)
	}
	return bits.text()
}

// choices are some of many, all different, all orders alike: the first steps of a Fisher-Yates shuffle.
func choices(many, chosen int, words *Words) []int {
	moved := map[int]int{} // what stands where the shuffle has been, so that nothing else is written down
	at := func(place int) int {
		if other, is := moved[place]; is {
			return other
		}
		return place
	}
	made := make([]int, chosen)
	for i := range made {
		other := i + int(words.below(uint64(many-i)))
		made[i] = at(other)
		moved[other] = at(i)
	}
	return made
}

// Hash has a seed, and the hash under it with probability Own / 2^53, each other value with Other / 2^53.
type Hash struct {
	Field      Field
	Digits     int
	Own, Other uint64
}

// Words is how many a draw takes.
func (h *Hash) Words() int { return 2 }

// Law of the reports.
func (h *Hash) Law() Law {
	return Law{int(h.Field.Size()), float64(h.Field.Points(h.Digits)) * float64(h.Field.Size())}
}

// Draw returns seed * g + value.
func (h *Hash) Draw(code int, words *Words) string {
	g := h.Field.Size()
	seed := words.next() % h.Field.Points(h.Digits)
	value, word := h.Field.hashed(seed, code, h.Digits), words.next()>>11
	if word >= h.Own {
		value += 1 + (word-h.Own)/h.Other
	}
	return strconv.FormatUint(seed*g+value%g, 10)
}

// Geometry has points of Length entries: with probability Own / 2^53 one that supports the category, else one that does not.
type Geometry struct {
	Field  Field
	Length int
	Own    uint64
}

// Words is how many a draw takes.
func (g *Geometry) Words() int { return 3 }

// Law of the reports.
func (g *Geometry) Law() Law { return Law{int(g.Field.Size()), float64(g.Field.Points(g.Length))} }

// Draw returns the point's number.
func (g *Geometry) Draw(code int, words *Words) string {
	f, supporting := g.Field, g.Field.Points(g.Length-1)
	supported := words.next()>>11 < g.Own
	on := words.below(supporting)
	off := words.below(f.Points(g.Length) - supporting)
	own, rest, wanted := f.point(uint64(code), g.Length), f.point(on, g.Length-1), uint64(0)
	if !supported {
		wanted = 1
		for i := len(rest) - 1; i >= 0; i-- {
			rest[i] = off % f.Size()
			off /= f.Size()
		}
	}
	first := 0
	for own[first] == 0 {
		first++
	}
	vector := append(append(append([]uint64{}, rest[:first]...), 0), rest[first:]...)
	vector[first] = f.solve(func(entry uint64) bool { return f.sum(f.inner(own, vector), entry) == wanted })
	return strconv.FormatUint(f.number(vector), 10)
}

// bits are one for each category, the first the highest of the first byte.
type bits []byte

func newBits(many int) bits { return make(bits, (many+7)/8) }

func (b bits) set(k int) { b[k/8] |= 128 >> (k % 8) }

func (b bits) text() string { return hex.EncodeToString(b) }
