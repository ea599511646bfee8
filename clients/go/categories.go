package optldp

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"optldp.example/optldp/internal/drawing"
)

const (
	mostCategories = 1 << 20
	mostNamed      = 1 << 27 // categories times the characters of the longest
	mostChosen     = 1 << 19
)

// members are those that a kind has beside the ones of every mechanism for categories.
var members = map[string][]string{
	"categorical-table":   {"denominator", "numerators"},
	"unary-encoding":      {"own_one", "other_one"},
	"subset-selection":    {"n_chosen", "own_chosen"},
	"local-hashing":       {"n_values", "own_value"},
	"projective-geometry": {"order", "own_supported"},
}

// polynomials are, for each power of a prime that is no prime, the coefficients below the highest.
var polynomials = map[int64][]uint64{
	4: {1, 1}, 8: {1, 0, 1}, 16: {1, 0, 0, 1}, 32: {1, 0, 0, 1, 0}, 64: {1, 0, 0, 0, 0, 1}, 128: {1, 0, 0, 0, 0, 0, 1},
	256: {1, 0, 0, 0, 1, 1, 0, 1}, 9: {1, 0}, 27: {1, 0, 2}, 81: {1, 0, 1, 1}, 243: {1, 0, 0, 0, 2}, 25: {1, 1},
	125: {1, 0, 1}, 49: {1, 0}, 121: {1, 0}, 169: {1, 3},
}

// ReadCategories reads a file's text, a mechanism for categories, and proves it private; a *TableError, in one line, for a
// text that is no such file, was altered, or is not proved.
func ReadCategories(text []byte) (made *Categories, err error) {
	err = refusing(func() {
		document := asObject("the file", parsed(text))
		epsilon, read := readCategories(unsigned(document))
		made = &Categories{Promise{epsilon, identified(document)}, read}
	})
	return made, err
}

// readCategories reads one without its checksum.
func readCategories(document map[string]any) (epsilon float64, made categories) {
	kind, _ := document["kind"].(string)
	own, known := members[kind]
	need(document["format"] == bundle && known, "a file must be a bundle of a kind for categories")
	keys := []string{"format", "kind", "categories", "epsilon", "provenance"}
	asObject("the mechanism", document, append(keys, own...)...)
	epsilon = asEpsilon(document["epsilon"])
	labels, codes := readLabels("categories", document["categories"])
	readProvenance(document["provenance"])
	return epsilon, categories{kind, labels, codes, readOracle(kind, document, len(labels), epsilon)}
}

func readLabels(name string, value any) ([]string, map[string]int) {
	list := asList(name, value)
	need(len(list) >= 2 && len(list) <= mostCategories, "%s must be 2 to %d, got %d", name, mostCategories, len(list))
	labels, codes, longest := make([]string, len(list)), make(map[string]int, len(list)), 0
	for code, each := range list {
		label := asText("every one of "+name, each)
		need(label != "" && !strings.ContainsRune(label, 0), "%s must be neither empty nor hold NUL", name)
		if size := utf8.RuneCountInString(label); size > longest {
			longest = size
		}
		labels[code], codes[label] = label, code
	}
	need(len(codes) == len(labels), "%s must differ, got one twice", name)
	need(len(labels)*longest <= mostNamed, "%s must be fewer or have shorter names", name)
	return labels, codes
}

func readOracle(kind string, document map[string]any, size int, epsilon float64) drawing.Oracle {
	limit := exponentialBelow(epsilon)
	share := func(name string) int64 { return asWhole(name, document[name], 1, denominator-1) }
	switch kind {
	case "categorical-table":
		needDenominator(document["denominator"])
		rows := asList("numerators", document["numerators"])
		need(len(rows) == size, "numerators must have a row for each of %d categories, got %d", size, len(rows))
		outputs := len(asList("row 0", rows[0]))
		sums, _, _ := readRows(rows, size, outputs, epsilon)
		return &drawing.Table{Outputs: outputs, Rows: sums}
	case "unary-encoding":
		own, other := share("own_one"), share("other_one")
		need(other < own, "other_one must be below own_one")
		proveRatio(product(own, denominator-other), product(other, denominator-own), limit)
		return &drawing.Unary{Size: size, Own: uint64(own), Other: uint64(other)}
	case "subset-selection":
		most := int64(size - 1)
		if most > mostChosen {
			most = mostChosen
		}
		many, own, all := asWhole("n_chosen", document["n_chosen"], 1, most), share("own_chosen"), int64(size)
		oftener := product(own, all).Cmp(product(many, denominator)) > 0
		need(oftener, "own_chosen must be more than %d/%d of 2^53", many, size)
		proveRatio(product(own, all-many), product(denominator-own, many), limit)
		return &drawing.Subset{Size: size, Chosen: int(many), Own: uint64(own)}
	}
	if kind == "projective-geometry" {
		return readGeometry(document, size, share("own_supported"), limit)
	}
	return readHashing(document, size, share("own_value"), limit)
}

func readGeometry(document map[string]any, size int, own int64, limit *big.Int) drawing.Oracle {
	field, length := readField("order", document["order"]), 2
	for field.Points(length) < uint64(size) {
		length++
	}
	n, m := int64(field.Points(length)), int64(field.Points(length-1))
	oftener := product(own, n).Cmp(product(m, denominator)) > 0
	need(oftener, "own_supported must be more than %d/%d of 2^53", m, n)
	proveRatio(product(own, n-m), product(denominator-own, m), limit)
	return &drawing.Geometry{Field: field, Length: length, Own: uint64(own)}
}

func readField(name string, value any) drawing.Field {
	size := asWhole(name, value, 2, 256)
	field := drawing.Field{Prime: 2, Tail: polynomials[size]}
	for size%int64(field.Prime) != 0 {
		field.Prime++
	}
	if field.Tail == nil {
		field.Tail = []uint64{0}
	}
	need(field.Size() == uint64(size), "%s must be a power of a prime, got %d", name, size)
	return field
}

func readHashing(document map[string]any, size int, own int64, limit *big.Int) drawing.Oracle {
	field := readField("n_values", document["n_values"])
	g := int64(field.Size())
	other := (denominator - own) / (g - 1)
	fits := other*(g-1) == denominator-own && other < own
	need(fits, "own_value must leave %d smaller equal shares of 2^53", g-1)
	proveRatio(big.NewInt(own), big.NewInt(other), limit)
	many := 1
	for reach := g; reach < int64(size); reach *= g {
		many++
	}
	return &drawing.Hash{Field: field, Digits: many, Own: uint64(own), Other: uint64(other)}
}
