package optldp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	mostBytes  = 1 << 25
	mostParsed = 160 << 20
	mostDigits = 4000
	mostDeep   = 16
)

// number is one of JSON as it was written, for whole numbers must be exact, and as a double, of which -0 is 0.
type number struct {
	text   string
	double float64
}

// refusing returns what a function refuses by need as an error.
func refusing(read func()) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *TableError:
			err = fault
		default:
			panic(fault)
		}
	}()
	read()
	return nil
}

func need(holds bool, reason string, parts ...any) {
	if !holds {
		panic(&TableError{fmt.Sprintf(reason, parts...)})
	}
}

// parsed is the value of a JSON text: nil, bool, string, number, []any or map[string]any. encoding/json lets keys repeat,
// the last one counting, and puts a sign in place of what is not Unicode; here they are refused.
func parsed(text []byte) any {
	needModest(text)
	need(json.Valid(text) && utf8.Valid(text), "the file must be whole JSON text in UTF-8, got something else")
	need(inPairs(text), "text must be Unicode, got half a surrogate pair")
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	return value(reader, 0)
}

func value(reader *json.Decoder, deep int) any {
	token, err := reader.Token()
	need(err == nil, "the file must be whole JSON text, got something else")
	switch token := token.(type) {
	case json.Number:
		double, err := strconv.ParseFloat(token.String(), 64)
		need(err == nil, "every number must fit in a double")
		return number{token.String(), double + 0}
	case json.Delim:
		need(deep < mostDeep, "the document must be nested at most %d deep", mostDeep)
		if token == '[' {
			list := []any{}
			for reader.More() {
				list = append(list, value(reader, deep+1))
			}
			closed(reader)
			return list
		}
		object := map[string]any{}
		for reader.More() {
			key, _ := value(reader, deep+1).(string)
			_, known := object[key]
			need(!known, "keys must not repeat, got one twice")
			object[key] = value(reader, deep+1)
		}
		closed(reader)
		return object
	default:
		return token
	}
}

func closed(reader *json.Decoder) {
	_, err := reader.Token()
	need(err == nil, "the file must be whole JSON text, got something else")
}

// needModest refuses what would take too much once parsed, by the count of docs/table-format.md, and too long numbers.
func needModest(text []byte) {
	need(len(text) <= mostBytes, "a file must be at most %d bytes", mostBytes)
	costs := map[byte]int{'"': 32, ',': 40, ':': 2000, '{': 2000, '[': 500}
	taken, inside, width, digits, within := len(text), 0, 1, 0, false
	for i := 0; i < len(text); i++ {
		each := text[i]
		switch {
		case each >= 0xf0:
			width = 4
		case each >= 0xc4 && width < 2:
			width = 2
		}
		if digits++; each < '0' || each > '9' {
			digits = 0
		}
		need(digits <= mostDigits, "a number must have at most %d digits in a row", mostDigits)
		switch {
		case each == '"':
			within = !within
			taken += costs[each]
		case !within:
			taken += costs[each]
		default:
			inside++
			if each == '\\' && i+1 < len(text) && text[i+1] < '0' { // what follows ends no text
				i++
				inside++
			}
		}
	}
	taken += (len(text) + inside) * width
	need(taken <= mostParsed, "a file must have fewer members and elements")
}

// inPairs says whether every escaped surrogate of a valid JSON text has its other half.
func inPairs(text []byte) bool {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i < len(text); {
		if text[i] != '\\' {
			further := bytes.IndexByte(text[i:], '\\')
			if further < 0 {
				break
			}
			i += further
		}
		if text[i+1] != 'u' {
			i += 2
			continue
		}
		switch kind := escaped(text[i:]) >> 10; kind {
		case 0xd800 >> 10:
			if escaped(text[i+6:])>>10 != 0xdc00>>10 {
				return false
			}
			i += 12
		case 0xdc00 >> 10:
			return false
		default:
			i += 6
		}
	}
	return true
}

// escaped is the number of an escape such as \u00e9 at the start of a text, 0 where there is none.
func escaped(text []byte) uint64 {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	made, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return made
}

func asObject(name string, value any, keys ...string) map[string]any {
	object, is := value.(map[string]any)
	need(is, "%s must be an object", name)
	for _, key := range keys {
		_, has := object[key]
		need(has, "%s must have the keys %s", name, strings.Join(keys, ", "))
	}
	need(len(keys) == 0 || len(object) == len(keys), "%s must have no keys but %s", name, strings.Join(keys, ", "))
	return object
}

func asList(name string, value any) []any {
	list, is := value.([]any)
	need(is, "%s must be a list", name)
	return list
}

func asText(name string, value any) string {
	text, is := value.(string)
	need(is, "%s must be text", name)
	return text
}

func asNumber(name string, value any) float64 {
	made, is := value.(number)
	need(is, "%s must be a number", name)
	return made.double
}

func asNumbers(name string, value any) []float64 {
	list := asList(name, value)
	made := make([]float64, len(list))
	for i, each := range list {
		made[i] = asNumber("every entry of "+name, each)
	}
	return made
}

// asWhole takes a whole number in a range, which is written without point or exponent.
func asWhole(name string, value any, least, most int64) int64 {
	made, is := value.(number)
	whole, err := strconv.ParseInt(made.text, 10, 64)
	need(is && err == nil && least <= whole && whole <= most, "%s must be whole numbers from %d to %d", name, least, most)
	return whole
}

func asWholes(name string, value any, least, most int64) []int64 {
	list := asList(name, value)
	made := make([]int64, len(list))
	for i, each := range list {
		made[i] = asWhole(name, each, least, most)
	}
	return made
}

// asEnds takes ends of outputs, of which "-inf" and "inf" are infinite.
func asEnds(name string, value any) []float64 {
	list := asList(name, value)
	made := make([]float64, len(list))
	for i, each := range list {
		switch each {
		case "-inf":
			made[i] = math.Inf(-1)
		case "inf":
			made[i] = math.Inf(1)
		default:
			made[i] = asNumber("every entry of "+name, each)
		}
	}
	return made
}
