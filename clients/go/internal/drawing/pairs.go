package drawing

import (
	"sort"
	"strconv"
	"strings"
)

// Pair is a key's number and a value.
type Pair struct {
	Code  int
	Value float64
}

// Pairs draws reports of one of a user's pairs, or of a dummy. Apart: each key is shown or not, with probability Own / 2^53
// for the pair's and Other / 2^53 elsewhere; otherwise one place is.
type Pairs struct {
	Apart         bool
	Keys, Padding int
	Own, Other    uint64
	Numbers       *Numbers
	Fake          *Sums // one row
}

// Draw returns the report as a file holds it.
func (p *Pairs) Draw(held []Pair, words *Words) string {
	size := len(held)
	if size < p.Padding {
		size = p.Padding
	}
	number := int(words.next() >> 11 % uint64(size))
	pair := Pair{p.Keys + number, p.Numbers.Knots[0]}
	if number < len(held) {
		pair = held[number]
	}
	output := p.Numbers.output(pair.Value, words)
	if p.Apart {
		return p.apart(pair.Code, output, words)
	}
	step, word := uint64(0), words.next()>>11
	if word >= p.Own {
		step = 1 + (word-p.Own)/p.Other
	}
	falsely := p.fake(words)
	if step != 0 || pair.Code >= p.Keys {
		output = falsely
	}
	return shown((pair.Code+int(step))%(p.Keys+p.Padding), output)
}

func (p *Pairs) apart(code, output int, words *Words) string {
	parts := []string{}
	for k := 0; k < p.Keys; k++ {
		odds, report := p.Other, output
		if k == code {
			odds = p.Own
		}
		is := words.next()>>11 < odds
		falsely := p.fake(words)
		if k != code {
			report = falsely
		}
		if is {
			parts = append(parts, shown(k, report))
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ";")
}

func (p *Pairs) fake(words *Words) int {
	word := words.next() >> 11
	return sort.Search(p.Fake.Outputs-1, func(j int) bool { return p.Fake.Until(0, j) > word })
}

func shown(place, output int) string { return strconv.Itoa(place) + ":" + strconv.Itoa(output) }

// Sampled is some of many attributes, all sets alike.
func Sampled(many, sampled int, words *Words) []int { return choices(many, sampled, words) }
