package optldp

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"optldp.example/optldp/internal/drawing"
)

const (
	mostAttributes   = 256
	mostLevels       = 256
	mostLevelReports = 4096
	levelColumn      = "level"
)

// Pair is a key of a user and its number.
type Pair struct {
	Key   string
	Value float64
}

// AtLevel is a value as the level takes it, and the number of the level, from 0, the most private.
type AtLevel struct {
	Value any
	Level int
}

// Combined is a mechanism for pairs, for several attributes, or at levels of privacy that users choose, proved private.
// Threads may share it.
type Combined struct {
	Kind       string
	Identifier string    // the file's name beside reports
	Epsilons   []float64 // the budgets of the levels; one where there are none
	Columns    []string  // of a report
	inner      placed
}

// Cells draws a report, by Columns, of a []Pair, of a []float64 (attributes), or of an AtLevel. Levels are numbered from 0:
// a file has ReportText(Epsilons[number]) in its place unless the level is reported by a mechanism of its own.
// Each draw of a value spends the budget again.
func (c *Combined) Cells(value any) ([]string, error) {
	draw, fits := c.inner.place(value)
	if !fits {
		return nil, ErrValue
	}
	return drawing.Drawn(1, draw)
}

// placed is how a mechanism takes values and draws; a value is placed, or refused, before a random word is looked at.
type placed struct {
	epsilons []float64
	rising   []float64 // the budgets of single attributes, which rise from level to level, too
	columns  []string
	nature   string // what the mechanisms of several levels must have in common
	counted  int    // what is counted of values beside a report of a level: categories, outputs, those of keys
	own      bool   // each level counts its own
	place    func(value any) (func(words *drawing.Words) []string, bool)
}

// ReadCombined reads a file's text and proves it private; a *TableError, in one line, for a text that is no such file, was
// altered, or is not proved.
func ReadCombined(text []byte) (made *Combined, err error) {
	err = refusing(func() {
		document := asObject("the file", parsed(text))
		need(document["format"] == bundle, "a file must be a bundle of pairs, attributes or levels")
		kind, _ := document["kind"].(string)
		var inner placed
		switch kind {
		case "key-value-unary", "key-value-response":
			inner = readPairs(unsigned(document))
		case "attributes":
			inner = readAttributes(unsigned(document))
		default:
			inner = readLevels(kind, unsigned(document))
		}
		made = &Combined{kind, identified(document), inner.epsilons, inner.columns, inner}
	})
	return made, err
}

func alike(parts ...any) string {
	text, err := json.Marshal(parts)
	need(err == nil, "a mechanism must have finite ends")
	return string(text)
}

func needFew(what string, size int) {
	need(size <= mostEntries, "%s must be at most %d, got %d", what, mostEntries, size)
}

func asTable(value any) *exactTable {
	document := asObject("a table", value)
	need(document["format"] == "optldp-table/2", `a table must have the format "optldp-table/2"`)
	return readExactTable(document)
}

func placedNumbers(value any) placed { return placedTable(asTable(value)) }

func placedTable(table *exactTable) placed {
	numbers := &table.numbers
	return placed{
		epsilons: []float64{table.epsilon},
		columns:  []string{"report"},
		nature:   alike("number", numbers.Knots[0], numbers.Knots[len(numbers.Knots)-1], table.units),
		counted:  len(numbers.Low),
		own:      true,
		place: func(value any) (func(words *drawing.Words) []string, bool) {
			number, is := value.(float64)
			draw := func(words *drawing.Words) []string { return []string{ReportText(numbers.Draw(number, words))} }
			return draw, is && numbers.Takes(number)
		},
	}
}

func placedCategories(document map[string]any) placed {
	return placedOracle(readCategories(document))
}

func placedOracle(epsilon float64, read categories) placed {
	return placed{
		epsilons: []float64{epsilon},
		columns:  []string{"report"},
		nature:   alike(read.Kind, read.Labels, read.oracle.Law().Alike),
		counted:  len(read.Labels),
		place: func(value any) (func(words *drawing.Words) []string, bool) {
			label, _ := value.(string)
			code, known := read.codes[label]
			return func(words *drawing.Words) []string { return []string{read.oracle.Draw(code, words)} }, known
		},
	}
}

func readAttributes(document map[string]any) placed {
	asObject("the mechanism", document, "format", "kind", "attributes", "mechanisms", "sampled", "epsilon")
	names, listed := asList("attributes", document["attributes"]), asList("mechanisms", document["mechanisms"])
	many := len(names)
	need(many > 0 && many == len(listed) && many <= mostAttributes, "every attribute needs a name and one table")
	made, known, tables := placed{own: true}, map[string]bool{}, make([]placed, many)
	like := []any{document["sampled"]}
	for i, each := range names {
		name := asText("every name of an attribute", each)
		need(name != "" && !known[name], "attributes must have names that differ")
		known[name], tables[i] = true, placedNumbers(listed[i])
		made.columns, made.rising = append(made.columns, name), append(made.rising, tables[i].epsilons[0])
		made.counted += tables[i].counted
		like = append(like, name, tables[i].nature)
	}
	epsilon, sampled := asEpsilon(document["epsilon"]), int(asWhole("sampled", document["sampled"], 1, int64(many)))
	like[0] = sampled
	made.epsilons, made.nature = []float64{epsilon}, alike(like...)
	need(largest(made.rising, sampled).Cmp(exactly(epsilon)) <= 0, "the epsilons of any %d attributes must sum to at most "+
		"that of all", sampled)
	made.place = func(value any) (func(words *drawing.Words) []string, bool) {
		values, _ := value.([]float64)
		if len(values) != many {
			return nil, false
		}
		draws := make([]func(words *drawing.Words) []string, many)
		for i, table := range tables {
			draw, fits := table.place(values[i])
			if !fits {
				return nil, false
			}
			draws[i] = draw
		}
		return func(words *drawing.Words) []string {
			cells, chosen := make([]string, many), make([]bool, many)
			for _, i := range drawing.Sampled(many, sampled, words) {
				chosen[i] = true
			}
			for i, draw := range draws {
				if chosen[i] {
					cells[i] = draw(words)[0]
				}
			}
			return cells
		}, true
	}
	return made
}

func exactly(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// readLevels reads a mechanism of each level, and how the level itself is reported.
func readLevels(kind string, document map[string]any) placed {
	protocol, mechanism := document["level_mechanism"]
	keys := []string{"format", "kind", "levels", "level_epsilon"}
	if mechanism {
		keys = append(keys, "level_mechanism")
	}
	asObject("the mechanism", document, keys...)
	listed := asList("levels", document["levels"])
	need(len(listed) >= 2 && len(listed) <= mostLevels, "there must be 2 to %d levels, got %d", mostLevels, len(listed))
	levels, made := make([]placed, len(listed)), placed{}
	for i, each := range listed {
		levels[i] = readLevel(kind, asObject("a level", each))
		level, before := levels[i], levels[0]
		if i > 0 {
			before = levels[i-1]
			need(level.epsilons[0] > before.epsilons[0], "levels must have rising budgets, got others at level %d", i)
		}
		need(level.nature == before.nature, "levels must match, got others at level %d", i)
		for k := range level.rising {
			need(i == 0 || level.rising[k] > before.rising[k], "levels must have rising budgets, got others at level %d", i)
		}
		if made.epsilons = append(made.epsilons, level.epsilons[0]); i == 0 || level.own {
			made.counted += level.counted
		}
	}
	for _, column := range levels[0].columns {
		need(column != levelColumn, "an attribute must not be named %q", levelColumn)
	}
	made.columns = append([]string{levelColumn}, levels[0].columns...)
	oracle, reports := levelOracle(document["level_epsilon"], protocol, mechanism, len(levels)), len(levels)
	if oracle != nil {
		reports = int(oracle.Law().Many)
	}
	needFew("reports of levels times what is counted beside each", reports*made.counted)
	made.place = func(value any) (func(words *drawing.Words) []string, bool) {
		given, _ := value.(AtLevel)
		if given.Level < 0 || given.Level >= len(levels) {
			return nil, false
		}
		draw, fits := levels[given.Level].place(given.Value)
		return func(words *drawing.Words) []string {
			cells, level := draw(words), strconv.Itoa(given.Level)
			if oracle != nil {
				level = drawing.Place(oracle, oracle.Draw(given.Level, words))
			}
			return append([]string{level}, cells...)
		}, fits
	}
	return made
}

func readLevel(kind string, level map[string]any) placed {
	name, _ := level["kind"].(string)
	_, oracle := members[name]
	is := level["format"] == bundle
	switch {
	case kind == "personalised" && level["format"] == "optldp-table/2":
		return placedNumbers(level)
	case kind == "personalised" && is && oracle:
		return placedCategories(level)
	case kind == "personalised-attributes" && is && name == "attributes":
		return readAttributes(level)
	case kind == "personalised-pairs" && is && strings.HasPrefix(name, "key-value-"):
		return readPairs(level)
	}
	panic(&TableError{"a file must be of a kind that this client draws by, with levels of that kind"})
}

// levelOracle is how a level is reported; nil: in the clear.
func levelOracle(budget, protocol any, mechanism bool, many int) drawing.Oracle {
	if mechanism {
		epsilon, read := readCategories(asObject("level_mechanism", protocol))
		told := asNumber("level_epsilon", budget) == epsilon && len(read.Labels) == many
		need(told, "level_mechanism must have %d categories and the budget level_epsilon", many)
		need(read.oracle.Law().Many <= mostLevelReports, "there must be at most %d reports of a level", mostLevelReports)
		return read.oracle
	}
	if budget == nil {
		return nil
	}
	limit, whole := exponentialBelow(asEpsilon(budget)), big.NewInt(denominator)
	divisor := new(big.Int).Lsh(big.NewInt(int64(many-1)), 128)
	divisor.Add(divisor, limit)
	shares := new(big.Int).Lsh(whole, 128)
	shares.Add(shares, divisor).Sub(shares, big.NewInt(1))
	other := shares.Quo(shares, divisor).Int64() // rounded up
	own := denominator - int64(many-1)*other
	proveRatio(big.NewInt(own), big.NewInt(other), limit)
	sums, sum := &drawing.Sums{Outputs: many}, int64(0)
	for i := 0; i < many*many; i++ {
		if i%many == 0 {
			sum = 0
		}
		if sum += other; i/many == i%many {
			sum += own - other
		}
		sums.Sums = append(sums.Sums, uint64(sum))
	}
	return &drawing.Table{Outputs: many, Rows: sums}
}
