package optldp

import (
	"math"
	"math/big"
	"regexp"
	"sort"

	"optldp.example/optldp/internal/drawing"
)

const (
	bundle   = "optldp-bundle/1"
	mostEdge = 1 << 62
)

var digits = regexp.MustCompile("^[1-9][0-9]{0,48}$")

// readFloorForm proves a floor form: a floor, and a window of a line on which outputs have their extras side by side.
func readFloorForm(document map[string]any) *Table {
	asObject("the floor form", document, "format", "kind", "units", "epsilon", "ratio", "knots", "step", "places", "floor",
		"starts", "provenance", "prior", "checksum")
	identifier, shared := identified(document), readAround(document)
	text, step := asText("ratio", document["ratio"]), asNumber("step", document["step"])
	need(digits.MatchString(text), "ratio must be the digits of a whole number")
	ratio, _ := new(big.Int).SetString(text, 10)
	proved := ratio.Cmp(scale) > 0 && ratio.Cmp(exponentialBelow(shared.epsilon)) <= 0
	need(proved, "the ratio must be proved at most e^epsilon, and above 1")
	fraction, exponent := math.Frexp(step)
	power := fraction == 0.5 && exponent-1 >= -1000 && exponent-1 <= 400
	need(power, "step must be a power of two, 2^-1000 to 2^400")
	places := asWholes("places", document["places"], -denominator, denominator)
	floor := asWholes("floor", document["floor"], 1, denominator)
	starts := asWholes("starts", document["starts"], 0, mostEdge)
	need(len(places) == len(floor) && len(starts) == len(shared.knots), "outputs and knots must have a number each")
	reports := make([]float64, len(places))
	for j, place := range places {
		reports[j] = float64(float64(place)*step) + 0
	}
	needOutputs(reports, reports)
	windows := readWindows(ratio, floor, starts)
	made := drawing.Numbers{Knots: shared.knots, Low: reports, High: reports, Rows: windows}
	if shared.unbiased {
		proveWindows(windows, shared.knots, places, floor, exponent-1)
	}
	return &Table{Promise{shared.epsilon, identifier}, shared.units, made}
}

func readWindows(ratio *big.Int, floor, starts []int64) *drawing.Windows {
	made, beyond := &drawing.Windows{}, new(big.Int).Sub(ratio, scale)
	sum, edge := int64(0), int64(0)
	for _, least := range floor {
		extra := big.NewInt(least)
		extra.Mul(extra, beyond).Rsh(extra, 128)
		need(extra.IsInt64() && extra.Int64() <= mostEdge-edge, "the floor times the ratio must be at most 2^62")
		edge += extra.Int64()
		need(least <= denominator-sum, "floors must sum to at most 2^53")
		sum += least
		made.Floors, made.Edges = append(made.Floors, uint64(sum)), append(made.Edges, uint64(edge))
	}
	made.Width = uint64(denominator - sum)
	need(int64(made.Width) <= edge, "extras must fill a window")
	for _, start := range starts {
		need(start <= edge-int64(made.Width), "starts must leave room for a window")
		need(int64(float64(start)) == start, "starts must be doubles")
		made.Starts = append(made.Starts, uint64(start))
	}
	return made
}

// proveWindows checks the means of all rows; the step is a power of two.
func proveWindows(windows *drawing.Windows, knots []float64, places, floor []int64, exponent int) {
	u := unitOf(knots, []float64{math.Ldexp(1, exponent)})
	shift := uint(exponent - int(u))
	base, moments, before := new(big.Int), []*big.Int{new(big.Int)}, uint64(0)
	for j, place := range places {
		base.Add(base, product(place, floor[j]))
		part := product(place, int64(windows.Edges[j]-before))
		moments = append(moments, part.Add(part, moments[j]))
		before = windows.Edges[j]
	}
	until := func(point uint64) *big.Int { // the sum of places over the line up to a point of it
		j := sort.Search(len(places)-1, func(j int) bool { return windows.Edges[j] > point })
		begin := uint64(0)
		if j > 0 {
			begin = windows.Edges[j-1]
		}
		part := product(places[j], int64(point-begin))
		return part.Add(part, moments[j])
	}
	farthest := big.NewInt(places[len(places)-1])
	if first := big.NewInt(-places[0]); first.Cmp(farthest) > 0 {
		farthest = first
	}
	farthest.Lsh(farthest, shift)
	width := new(big.Int).Sub(u.of(knots[len(knots)-1]), u.of(knots[0]))
	for i, knot := range knots {
		start := windows.Starts[i]
		total := new(big.Int).Add(base, until(start+windows.Width))
		total.Sub(total, until(start)).Lsh(total, shift)
		u.needUnbiased(total, knot, width, farthest)
	}
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }
