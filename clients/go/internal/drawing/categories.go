package drawing

import (
	"encoding/hex"
	"sort"
	"strconv"
)

// Oracle draws a report of a category's number, as a file holds it.
type Oracle interface {
	Draw(code int) (string, error)
}

// Table has whole outputs.
type Table struct {
	Outputs int
	Rows    Rows
}

// Draw returns the output's number.
func (t *Table) Draw(code int) (string, error) {
	words, err := drawn(1)
	if err != nil {
		return "", err
	}
	defer words.erase()
	word := words.next() >> 11
	j := sort.Search(t.Outputs-1, func(j int) bool { return t.Rows.Until(code, j) > word })
	return strconv.Itoa(j), nil
}

// Unary has a bit for each category: one with probability Own / 2^53 at the own place and Other / 2^53 elsewhere.
type Unary struct {
	Size       int
	Own, Other uint64
}

// Draw returns the bits in hexadecimal.
func (u *Unary) Draw(code int) (string, error) {
	words, err := drawn(u.Size)
	if err != nil {
		return "", err
	}
	defer words.erase()
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
	return bits.text(), nil
}

// Subset has sets of Chosen categories, which hold the own one with probability Own / 2^53.
type Subset struct {
	Size, Chosen int
	Own          uint64
}

// Draw returns the set as bits in hexadecimal.
func (s *Subset) Draw(code int) (string, error) {
	words, err := drawn(1 + s.Chosen)
	if err != nil {
		return "", err
	}
	defer words.erase()
	held := words.next()>>11 < s.Own
	others, err := choices(s.Size-1, s.Chosen, words) // counted on from the one after the own
	if err != nil {
		return "", err
	}
	if held {
		others[s.Chosen-1] = s.Size - 1
	}
	bits := newBits(s.Size)
	for _, other := range others {
		bits.set((code + 1 + other) % s.Size)
	}
	return bits.text(), nil
}

// choices are some of many, all different, all orders alike: the first steps of a Fisher-Yates shuffle.
func choices(many, chosen int, words *words) ([]int, error) {
	moved := map[int]int{} // what stands where the shuffle has been, so that nothing else is written down
	at := func(place int) int {
		if other, is := moved[place]; is {
			return other
		}
		return place
	}
	made := make([]int, chosen)
	for i := range made {
		further, err := words.below(uint64(many - i))
		if err != nil {
			return nil, err
		}
		other := i + int(further)
		made[i] = at(other)
		moved[other] = at(i)
	}
	return made, nil
}

// Hash has a seed, and the hash under it with probability Own / 2^53, each other value with Other / 2^53.
type Hash struct {
	Field      Field
	Digits     int
	Own, Other uint64
}

// Draw returns seed * g + value.
func (h *Hash) Draw(code int) (string, error) {
	words, err := drawn(2)
	if err != nil {
		return "", err
	}
	defer words.erase()
	g := h.Field.Size()
	seed := words.next() % h.Field.Points(h.Digits)
	value, word := h.Field.hashed(seed, code, h.Digits), words.next()>>11
	if word >= h.Own {
		value += 1 + (word-h.Own)/h.Other
	}
	return strconv.FormatUint(seed*g+value%g, 10), nil
}

// Geometry has points of Length entries: with probability Own / 2^53 one that supports the category, else one that does not.
type Geometry struct {
	Field  Field
	Length int
	Own    uint64
}

// Draw returns the point's number.
func (g *Geometry) Draw(code int) (string, error) {
	words, err := drawn(3)
	if err != nil {
		return "", err
	}
	defer words.erase()
	f, supporting := g.Field, g.Field.Points(g.Length-1)
	supported := words.next()>>11 < g.Own
	on, err := words.below(supporting)
	if err != nil {
		return "", err
	}
	off, err := words.below(f.Points(g.Length) - supporting)
	if err != nil {
		return "", err
	}
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
	return strconv.FormatUint(f.number(vector), 10), nil
}

// bits are one for each category, the first the highest of the first byte.
type bits []byte

func newBits(many int) bits { return make(bits, (many+7)/8) }

func (b bits) set(k int) { b[k/8] |= 128 >> (k % 8) }

func (b bits) text() string { return hex.EncodeToString(b) }
