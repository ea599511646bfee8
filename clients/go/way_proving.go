package optldp

import (
	"encoding/hex"
	"math/big"
	"strings"

	"optldp.example/optldp/internal/drawing"
)

const (
	mostPeriods = 100_000
	mostRows    = 10_000
	mostSigns   = 32
	mostTotal   = 1<<31 - 1 // of shares
)

// ReadWay reads a file's text, a panel, a way that remembers draws, rows or a tree, and proves it private; a *TableError, in one line, for a
// text that is no such file, was altered, or is not proved.
func ReadWay(text []byte) (made *Way, err error) {
	err = refusing(func() {
		document := asObject("the file", parsed(text))
		kind, _ := document["kind"].(string)
		made = &Way{Kind: kind}
		read, known := map[string]func(map[string]any){
			"panel": made.readPanel, "memoised": made.readMemoised, "rows": made.readRows, "tree": made.readTree,
		}[kind]
		need(known && document["format"] == bundle, "a file must be a bundle of kind panel, memoised, rows or tree")
		content := unsigned(document)
		made.Promise = Promise{0, identified(document)}
		read(content)
	})
	if err != nil {
		return nil, err // nothing that is not proved
	}
	return made, nil
}

func (w *Way) readMemoised(document map[string]any) {
	asObject("the way", document, "format", "kind", "mechanism", "periods", "epsilon", "values")
	w.readShared(document)
	w.values = int(asWhole("values", document["values"], 1, int64(w.Periods)))
	w.needBudget(w.values)
}

func (w *Way) readPanel(document map[string]any) {
	asObject("the way", document, "format", "kind", "mechanism", "periods", "epsilon", "reports", "salt", "shares", "span")
	w.readShared(document)
	made := &panel{span: w.Periods}
	if document["span"] != nil {
		made.span = int(asWhole("the span", document["span"], 1, int64(w.Periods)))
	}
	made.reports = int(asWhole("reports", document["reports"], 1, int64(made.span)))
	w.needBudget(made.reports)
	made.salt = asSalt(document["salt"])
	if document["shares"] != nil {
		made.shares = asShares(document["shares"])
		fits := len(made.shares) == w.Periods && made.reports == 1 && document["span"] == nil
		need(fits, "there must be a share for each period of one report, and no span")
	}
	w.panel = made
}

func (w *Way) readRows(document map[string]any) {
	asObject("the way", document, "format", "kind", "mechanism", "rows", "shares", "variances", "salt", "stays", "epsilon")
	w.readTable(document["mechanism"], document["epsilon"])
	made := &wholeLife{salt: asSalt(document["salt"]), shares: asShares(document["shares"])}
	tells := false
	for _, row := range asList("rows", document["rows"]) {
		made.rows = append(made.rows, asNumbers("a row", row))
	}
	need(len(made.rows) >= 1 && len(made.rows) <= mostRows, "rows must be 1 to 10000")
	w.Periods = len(made.rows[0])
	need(w.Periods >= 2 && w.Periods <= mostPeriods, "rows must have 2 to 100000 weights")
	for _, row := range made.rows {
		weighs, sum := false, 0.0
		for _, weight := range row {
			weighs = weighs || weight != 0
			sum += weight
		}
		tells = tells || sum != 0
		need(weighs && len(row) == w.Periods, "rows must have as many weights each, not all zero")
	}
	variances := asNumbers("variances", document["variances"])
	for _, variance := range variances {
		need(variance > 0, "variances must be positive")
	}
	need(len(variances) == len(made.rows) && len(made.shares) == len(made.rows), "rows must have a variance and a share each")
	stays, is := document["stays"].(bool)
	need(is && (tells || !stays), "stays must be true or false, and true of rows that tell a value that stays")
	need(made.salt != nil, "there must be a salt")
	w.life = made
}

func (w *Way) readTree(document map[string]any) {
	asObject("the way", document, "format", "kind", "table", "periods", "shares", "branches", "variance", "salt", "epsilon")
	w.readTable(document["table"], document["epsilon"])
	w.Periods = int(asWhole("periods", document["periods"], 2, mostPeriods))
	made := &wholeLife{salt: asSalt(document["salt"]), shares: asShares(document["shares"])}
	steps := map[int]bool{}
	for _, each := range asList("branches", document["branches"]) {
		one := asBranch(each, w.Periods, w.Epsilon)
		need(!steps[one.step], "branches must have different steps")
		steps[one.step], made.branches = true, append(made.branches, one)
	}
	need(len(made.shares) == w.Periods+len(made.branches), "there must be a share for each period and branch")
	need(asNumber("variance", document["variance"]) > 0, "variance must be positive")
	need(made.salt != nil, "there must be a salt")
	w.life = made
}

func asBranch(value any, periods int, epsilon float64) branch {
	numbers := asWholes("a branch", value, 1, 1<<53)
	need(len(numbers) == 5, "a branch must be five whole numbers")
	step, many, least, high, low := numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
	fits := step < int64(periods) && least <= many && many <= mostSigns && low <= high
	need(fits, "a branch must have numbers in their ranges")
	proveRatio(big.NewInt(high), big.NewInt(low), exponentialBelow(epsilon))
	weights, sum := []uint64{}, new(big.Int)
	for plus := int64(0); plus <= many; plus++ {
		weight := new(big.Int).Binomial(many, plus) // orders of so many plus signs among all
		if plus >= least {
			weight.Mul(weight, big.NewInt(high))
		} else {
			weight.Mul(weight, big.NewInt(low))
		}
		sum.Add(sum, weight)
		weights = append(weights, weight.Uint64()) // it fits, or the sum is refused
	}
	need(sum.Cmp(big.NewInt(1<<53)) <= 0, "weights of signs must sum to at most 2^53")
	return branch{int(step), drawing.Signs{Weights: weights}}
}

// readTable reads a table of numbers for one report of a user, and the budget of that.
func (w *Way) readTable(mechanism, epsilon any) {
	w.member = asMember(mechanism)
	need(w.table != nil, "the mechanism must be a table of numbers")
	w.Epsilon = asEpsilon(epsilon)
	w.needBudget(1)
}

// readShared reads what all ways have: mechanism, periods and budget.
func (w *Way) readShared(document map[string]any) {
	w.member = asMember(document["mechanism"])
	w.Epsilon = asEpsilon(document["epsilon"])
	w.Periods = int(asWhole("periods", document["periods"], 2, mostPeriods))
}

// asMember takes a table or a mechanism for categories.
func asMember(value any) member {
	document := asObject("the mechanism", value)
	if document["format"] == "optldp-table/2" {
		table := asTable(document)
		return member{placed: placedTable(table), table: table}
	}
	epsilon, read := readCategories(document)
	return member{placed: placedOracle(epsilon, read), oracle: read}
}

// needBudget proves that so many reports of a user spend at most Epsilon.
func (w *Way) needBudget(reports int) {
	spent := new(big.Rat).Mul(exactly(w.epsilons[0]), big.NewRat(int64(reports), 1))
	need(spent.Cmp(exactly(w.Epsilon)) <= 0, "all reports of a user must spend at most epsilon")
}

func asSalt(value any) []byte {
	if value == nil {
		return nil
	}
	digits := asText("the salt", value)
	salt, err := hex.DecodeString(digits)
	fits := err == nil && len(salt) == 16 && digits == strings.ToLower(digits)
	need(fits, "the salt must be 32 hexadecimal digits")
	return salt
}

// asShares takes shares by which a user's word picks.
func asShares(value any) []int64 {
	shares, total := asWholes("shares", value, 0, mostTotal), int64(0)
	for _, share := range shares { // at most 2^25 of them
		total += share
	}
	need(total >= 1 && total <= mostTotal, "shares must have a sum from 1 to 2^31 - 1")
	return shares
}
