package optldp

import (
	"encoding/hex"
	"math/big"
	"strings"
)

const (
	mostPeriods = 100_000
	mostTotal   = 1<<31 - 1 // of shares
)

// ReadWay reads a file's text, a panel or a way that remembers draws, and proves it private; a *TableError, in one line, for a
// text that is no such file, was altered, or is not proved.
func ReadWay(text []byte) (made *Way, err error) {
	err = refusing(func() {
		document := asObject("the file", parsed(text))
		kind, _ := document["kind"].(string)
		known := document["format"] == bundle && (kind == "panel" || kind == "memoised")
		need(known, "a file must be a bundle of kind panel or memoised")
		content := unsigned(document)
		made = &Way{Kind: kind, Promise: Promise{0, identified(document)}}
		if kind == "memoised" {
			made.readMemoised(content)
		} else {
			made.readPanel(content)
		}
	})
	return made, err
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
