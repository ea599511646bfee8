package optldp

import (
	"math"
	"math/big"
	"sort"

	"optldp.example/optldp/internal/drawing"
)

// ReadTable reads a file's text, an exact table or a floor form, and proves it private; a *TableError, in one line, for a
// text that is no such file, was altered, or is not proved.
func ReadTable(text []byte) (table *Table, err error) {
	err = refusing(func() {
		document := asObject("the file", parsed(text))
		if document["format"] == "optldp-table/2" {
			read := readExactTable(unsigned(document))
			table = &Table{Promise{read.epsilon, identified(document)}, read.units, read.numbers}
			return
		}
		floor := document["format"] == bundle && document["kind"] == "floor"
		need(floor, `a file must be of the format "optldp-table/2", or a bundle of kind "floor"`)
		table = readFloorForm(document)
	})
	return table, err
}

// exactTable is a table on its own or inside another mechanism, with the least and the largest entry of every output.
type exactTable struct {
	around
	numbers           drawing.Numbers
	smallest, largest []int64
}

// readExactTable reads one without its checksum.
func readExactTable(document map[string]any) *exactTable {
	_, promises := document["promise"]
	need(!promises, "a table must promise pure epsilon-LDP, got another promise")
	asObject("the table", document, "format", "units", "epsilon", "knots", "low", "high", "denominator", "numerators",
		"within", "provenance", "prior")
	needDenominator(document["denominator"])
	shared := readAround(document)
	low, high := asEnds("low", document["low"]), asEnds("high", document["high"])
	needOutputs(low, high)
	made := drawing.Numbers{Knots: shared.knots, Low: low, High: high}
	readLaw(document["within"], &made)
	sums, smallest, largest := readRows(document["numerators"], len(shared.knots), len(low), shared.epsilon)
	made.Rows = sums
	if shared.unbiased {
		proveUnbiased(&made, sums)
	}
	return &exactTable{shared, made, smallest, largest}
}

func needDenominator(value any) {
	made, is := value.(number)
	need(is && made.text == "9007199254740992", "denominator must be 9007199254740992")
}

func readLaw(value any, made *drawing.Numbers) {
	within := asObject("within", value)
	if within["kind"] == "geometric-tails" {
		asObject("within", within, "kind", "step", "ratio")
		made.Tails = readTails(within, made.Low, made.High)
		return
	}
	asObject("within", within, "kind")
	need(within["kind"] == "uniform", "the law within outputs must be the same for all rows")
	for j := range made.Low {
		need(!math.IsInf(made.Low[j], 0) && !math.IsInf(made.High[j], 0), "a uniform law needs finite ends")
	}
	made.Refuges = refuges(made.Low, made.High)
}

func readTails(within map[string]any, low, high []float64) *drawing.Tails {
	step, ratio := asNumber("step", within["step"]), asNumber("ratio", within["ratio"])
	need(step > 0 && step <= 1e120, "step must be in (0, 1e120]")
	need(ratio > 0 && ratio < 1, "ratio must be between 0 and 1")
	left, right := math.Inf(-1), math.Inf(1)
	if math.IsInf(low[0], -1) {
		left = high[0]
	}
	for j := range high {
		if math.IsInf(high[j], 1) {
			right = low[j]
			break
		}
	}
	for j := range low {
		tail := math.IsInf(low[j], -1) != math.IsInf(high[j], 1)
		need(low[j] == high[j] || tail, "beside geometric tails there must be only points")
		need(low[j] < high[j] || left < low[j] && low[j] < right, "points must lie between the geometric tails")
	}
	need(left != right, "two geometric tails must have ends of their own")
	tails := &drawing.Tails{Step: step}
	for q := ratio; ; q *= q {
		odds := uint64(math.RoundToEven(q / (1 + q) * denominator))
		if odds == 0 {
			return tails
		}
		tails.Odds = append(tails.Odds, odds)
	}
}

// refuges is where a report of a cell goes that equals a point inside it: up to the next double that is none, else down.
func refuges(low, high []float64) map[float64]float64 {
	points := []float64{}
	for j := range low {
		if low[j] == high[j] {
			points = append(points, low[j])
		}
	}
	above, below := make([]float64, len(points)), make([]float64, len(points))
	for i, point := range points {
		below[i] = math.Nextafter(point, math.Inf(-1))
		if i > 0 && points[i-1] == below[i] {
			below[i] = below[i-1]
		}
	}
	for i := len(points) - 1; i >= 0; i-- {
		above[i] = math.Nextafter(points[i], math.Inf(1))
		if i+1 < len(points) && points[i+1] == above[i] {
			above[i] = above[i+1]
		}
	}
	found := map[float64]float64{}
	for j := range low {
		if low[j] == high[j] {
			continue
		}
		for i := sort.SearchFloat64s(points, low[j]); i < len(points) && points[i] < high[j]; i++ {
			need(above[i] < high[j] || below[i] >= low[j], "a cell must hold a double that is no point")
			if found[points[i]] = above[i]; above[i] >= high[j] {
				found[points[i]] = below[i]
			}
		}
	}
	return found
}

// readRows reads numerators, proves every ratio and returns the running sums, the least and the largest of every output.
func readRows(value any, rows, outputs int, epsilon float64) (made *drawing.Sums, smallest, largest []int64) {
	list := asList("numerators", value)
	need(len(list) == rows, "numerators must have %d rows, got %d", rows, len(list))
	need(rows*outputs <= mostEntries, "a table must have fewer rows and outputs")
	smallest, largest = make([]int64, outputs), make([]int64, outputs)
	made = &drawing.Sums{Outputs: outputs, Sums: make([]uint64, 0, rows*outputs)}
	for i, each := range list {
		row, sum := asWholes("numerators", each, 0, denominator), int64(0)
		need(len(row) == outputs, "row %d must have a number for each of %d outputs, got %d", i, outputs, len(row))
		for j, entry := range row {
			sum += entry
			need(sum <= denominator, "row %d must sum to 2^53 exactly, got more", i)
			made.Sums = append(made.Sums, uint64(sum))
			if i == 0 || entry < smallest[j] {
				smallest[j] = entry
			}
			if entry > largest[j] {
				largest[j] = entry
			}
		}
		need(sum == denominator, "row %d must sum to 2^53 exactly, got less", i)
	}
	limit := exponentialBelow(epsilon)
	for j := range smallest {
		proveRatio(big.NewInt(largest[j]), big.NewInt(smallest[j]), limit)
	}
	return made, smallest, largest
}

func proveUnbiased(made *drawing.Numbers, sums *drawing.Sums) {
	knots, low, high := made.Knots, made.Low, made.High
	steps := []float64{}
	if made.Tails != nil {
		steps = []float64{made.Tails.Step}
	}
	u := unitOf(knots, low, high, steps) - 54 // of which means are whole numbers: halves, and steps over 2^53
	means, farthest := make([]*big.Int, len(low)), new(big.Int)
	for j := range low {
		means[j] = mean(u, low[j], high[j], made.Tails)
		if means[j].CmpAbs(farthest) > 0 {
			farthest.Abs(means[j])
		}
	}
	width, part := new(big.Int).Sub(u.of(knots[len(knots)-1]), u.of(knots[0])), new(big.Int)
	for i, knot := range knots {
		total, before := new(big.Int), uint64(0)
		for j, each := range means {
			until := sums.Until(i, j)
			total.Add(total, part.Mul(each, big.NewInt(int64(until-before))))
			before = until
		}
		u.needUnbiased(total, knot, width, farthest)
	}
}

// mean is the mean report of an output.
func mean(u unit, low, high float64, tails *drawing.Tails) *big.Int {
	if tails == nil || low == high {
		sum := new(big.Int).Add(u.of(low), u.of(high))
		return sum.Rsh(sum, 1)
	}
	beyond := new(big.Int)
	for i, odds := range tails.Odds {
		digit := new(big.Int).SetUint64(odds)
		beyond.Add(beyond, digit.Lsh(digit, uint(i)))
	}
	beyond.Mul(beyond, u.of(tails.Step)).Rsh(beyond, 53)
	if math.IsInf(low, -1) {
		return beyond.Sub(u.of(high), beyond)
	}
	return beyond.Add(u.of(low), beyond)
}
