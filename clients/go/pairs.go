package optldp

import (
	"math/big"
	"sort"

	"optldp.example/optldp/internal/drawing"
)

const (
	mostPadding = 1 << 20
	mostPaired  = 1<<15 - 2 // outputs
)

// readPairs reads a mechanism for sets of pairs, without its checksum.
func readPairs(document map[string]any) placed {
	asObject("the mechanism", document, "format", "kind", "keys", "epsilon", "provenance", "value", "padding",
		"denominator", "fake", "own", "other")
	kind := document["kind"]
	need(kind == "key-value-unary" || kind == "key-value-response", "pairs must be reported apart or by response")
	apart := kind == "key-value-unary"
	labels, codes := readLabels("keys", document["keys"])
	table := asTable(document["value"])
	needDenominator(document["denominator"])
	readProvenance(document["provenance"])
	epsilon, m := asEpsilon(document["epsilon"]), len(table.smallest)
	need(m <= mostPaired, "the value table must have at most %d outputs, got %d", mostPaired, m)
	needFew("keys times outputs", len(labels)*m)
	padding := asWhole("padding", document["padding"], 0, mostPadding)
	fake, _, entries := readRows(document["fake"], 1, m, epsilon)
	own := asWhole("own", document["own"], 1, denominator-1)
	other := asWhole("other", document["other"], 1, denominator-1)
	need(other < own, "other must be below own")
	if !apart {
		rest := product(int64(len(labels))+padding-1, other)
		need(rest.Cmp(big.NewInt(denominator-own)) == 0, "own must leave equal shares of 2^53 to the others")
	}
	possible := provePairs(table, entries, apart, padding, own, other, exponentialBelow(epsilon))
	law := &drawing.Pairs{Apart: apart, Keys: len(labels), Padding: int(padding), Own: uint64(own), Other: uint64(other),
		Numbers: &table.numbers, Fake: fake}
	return placed{
		epsilons: []float64{epsilon},
		columns:  []string{"report"},
		nature:   alike(apart, labels, padding, table.units, m, table.knots, possible),
		counted:  len(labels) * (1 + m),
		place: func(value any) (func(words *drawing.Words) []string, bool) {
			pairs, is := value.([]Pair)
			held, fits := placedPairs(pairs, codes, law)
			return func(words *drawing.Words) []string { return []string{law.Draw(held, words)} }, is && fits
		},
	}
}

// placedPairs takes pairs of keys that are known, each once at most; none only where dummies pad.
func placedPairs(pairs []Pair, codes map[string]int, law *drawing.Pairs) (held []drawing.Pair, fits bool) {
	seen := map[int]bool{}
	for _, pair := range pairs {
		code, known := codes[pair.Key]
		if !known || seen[code] || !law.Numbers.Takes(pair.Value) {
			return nil, false
		}
		seen[code], held = true, append(held, drawing.Pair{Code: code, Value: pair.Value})
	}
	return held, len(held) > 0 || law.Padding > 0
}

// provePairs proves the largest ratio, of own M / (other D) for every output that can be shown; it returns which can.
func provePairs(table *exactTable, fake []int64, apart bool, padding, own, other int64, limit *big.Int) []bool {
	possible, one := make([]bool, len(fake)), big.NewRat(1, 1)
	most, least := new(big.Rat), new(big.Rat).SetFrac64(denominator-own, denominator-other) // of all, where keys are apart
	held := padding
	if held < 1 {
		held = 1
	}
	share := big.NewRat((denominator+held-1)/held, denominator) // how likely a pair is sampled at most
	mixed := func(ratio *big.Rat) *big.Rat {                    // 1 + share (ratio - 1)
		made := new(big.Rat).Sub(ratio, one)
		return made.Add(made.Mul(made, share), one)
	}
	for j, entry := range fake {
		possible[j] = table.largest[j] > 0 || entry > 0
		if !possible[j] {
			continue
		}
		need(entry > 0, "an output that the value table has must be among the fake ones, got one that is not")
		high := new(big.Rat).SetFrac(product(own, table.largest[j]), product(other, entry))
		low := new(big.Rat).SetFrac(product(own, table.smallest[j]), product(other, entry))
		if !apart {
			proveRatioOf(larger(one, mixed(high)), smaller(one, mixed(low)), limit)
		}
		most, least = larger(most, high), smaller(least, low)
	}
	if apart {
		proveRatioOf(most, least, limit)
	}
	return possible
}

func proveRatioOf(most, least *big.Rat, limit *big.Int) {
	p, q := new(big.Int).Mul(most.Num(), least.Denom()), new(big.Int).Mul(most.Denom(), least.Num())
	need(q.Sign() > 0, "every ratio must be proved at most e^epsilon, got more")
	proveRatio(p, q, limit)
}

func larger(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}

func smaller(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) <= 0 {
		return x
	}
	return y
}

// largest is the sum of so many of the largest budgets.
func largest(budgets []float64, many int) *big.Rat {
	sorted := append([]float64{}, budgets...)
	sort.Sort(sort.Reverse(sort.Float64Slice(sorted)))
	sum := new(big.Rat)
	for _, budget := range sorted[:many] {
		sum.Add(sum, exactly(budget))
	}
	return sum
}
