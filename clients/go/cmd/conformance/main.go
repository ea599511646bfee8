// Command conformance answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance go`.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"strconv"
	"strings"

	"optldp.example/optldp"
)

type draw struct {
	Value any
	Words []string
}

type step struct {
	Period       int
	Value        any
	Words        []string
	First, Crash string
	User         string // who asks with this state, if it is another
	Document     string // by which way, if it is another
}

type question struct {
	Do, Document, User string
	Draws              []draw
	Steps              []step
}

// script gives the words of a draw in place of the platform's generator, and zeros beyond; none at all: it fails.
type script struct{ words []string }

func (s *script) Read(to []byte) (int, error) {
	if s.words == nil {
		return 0, io.EOF
	}
	for i := 0; i < len(to); i += 8 {
		word := uint64(0)
		if len(s.words) > 0 {
			word, _ = strconv.ParseUint(s.words[0], 16, 64)
			s.words = s.words[1:]
		}
		binary.LittleEndian.PutUint64(to[i:], word)
	}
	return len(to), nil
}

func scripted(words []string) *script {
	given := &script{}
	if len(words) > 0 {
		given.words = words
	}
	return given
}

var errCrash = errors.New("what stops a device in the middle")

// memory is a text of a device; it may be told to stop when that is written.
type memory struct {
	text                   string
	found, begins, crashes bool // begins: there may be a first text in spite of that, as of a mark of nothing
}

func (m *memory) Read() (string, bool, error) { return m.text, m.found, nil }

func (m *memory) Write(text string) error {
	if m.crashes && (m.found || !m.begins) {
		return errCrash
	}
	m.text, m.found = text, true
	return nil
}

// lived reports in periods, with a state that is kept, put back, lost, or not written.
func lived(way *optldp.Way, user string, steps []step) (any, error) {
	state, mark, kept, answers := &memory{}, &memory{begins: true}, memory{}, []any{}
	for _, each := range steps {
		switch each.First {
		case "keep":
			kept = *state
		case "restore":
			*state = kept
		case "lose":
			*state = memory{}
		}
		state.crashes, mark.crashes = each.Crash == "state", each.Crash == "mark"
		rand.Reader = scripted(each.Words)
		asked, asks := way, user
		if each.Document != "" {
			other, err := optldp.ReadWay([]byte(each.Document))
			if err != nil {
				return nil, err
			}
			asked = other
		}
		if each.User != "" {
			asks = each.User
		}
		sent, err := asked.Report(asks, each.Period, each.Value, state, mark)
		switch {
		case errors.Is(err, errCrash) || err == nil && each.Crash == "report":
			answers = append(answers, map[string]any{"crashed": true})
		case errors.Is(err, optldp.ErrRandomness):
			answers = append(answers, map[string]any{"stopped": true})
		case errors.Is(err, optldp.ErrState):
			answers = append(answers, map[string]any{"refused": true})
		case err != nil:
			return nil, err
		default:
			answers = append(answers, map[string]any{"sent": sent})
		}
	}
	return map[string]any{"answers": answers}, nil
}

// kindOf is the kind that a document states, if it is a bundle.
func kindOf(document string) string {
	var file struct{ Format, Kind any }
	_ = json.Unmarshal([]byte(document), &file) // what is no JSON is refused as a table
	if kind, is := file.Kind.(string); is && file.Format == "optldp-bundle/1" {
		return kind
	} else if file.Format == "optldp-bundle/1" {
		return "?"
	}
	return "floor"
}

// read returns what draws a report of a value.
func read(document string) (func(value any) (any, error), error) {
	kind := kindOf(document)
	pairs, numbers, levels := strings.HasPrefix(kind, "key-value-"), kind == "attributes", strings.HasPrefix(kind, "personalised")
	switch {
	case kind == "floor":
		made, err := optldp.ReadTable([]byte(document))
		return func(value any) (any, error) { return made.Report(value.(float64)) }, err
	case pairs || numbers || levels:
		made, err := optldp.ReadCombined([]byte(document))
		return func(value any) (any, error) {
			cells, err := made.Cells(given(value, levels))
			return strings.Join(cells, ","), err
		}, err
	}
	made, err := optldp.ReadCategories([]byte(document))
	return func(value any) (any, error) { return made.Report(value.(string)) }, err
}

// given is a value of JSON as ReadCombined's mechanism takes it.
func given(value any, level bool) any {
	list, is := value.([]any)
	if level {
		return optldp.AtLevel{Value: given(list[0], false), Level: int(list[1].(float64))}
	}
	if !is {
		return value
	}
	pairs, numbers := []optldp.Pair{}, []float64{}
	for _, each := range list {
		if pair, is := each.([]any); is {
			pairs = append(pairs, optldp.Pair{Key: pair[0].(string), Value: pair[1].(float64)})
		} else {
			numbers = append(numbers, each.(float64))
		}
	}
	if len(numbers) > 0 {
		return numbers
	}
	return pairs
}

func answer(asked question) (any, error) {
	var way *optldp.Way
	var report func(value any) (any, error)
	var err error
	switch kindOf(asked.Document) {
	case "panel", "memoised", "rows", "tree":
		way, err = optldp.ReadWay([]byte(asked.Document))
	default:
		report, err = read(asked.Document)
	}
	var refused *optldp.TableError
	switch {
	case errors.As(err, &refused):
		return map[string]any{"accepted": false, "reason": refused.Error()}, nil
	case err != nil:
		return nil, err
	case asked.Do == "read":
		return map[string]any{"accepted": true}, nil
	case asked.Do == "live" && way != nil:
		return lived(way, asked.User, asked.Steps)
	case asked.Do != "draw" || way != nil:
		return map[string]any{"skipped": "a task unknown to this client: " + asked.Do}, nil
	}
	reports := []any{}
	for _, each := range asked.Draws {
		rand.Reader = scripted(each.Words)
		drawn, err := report(each.Value)
		if errors.Is(err, optldp.ErrRandomness) {
			return map[string]any{"stopped": true}, nil
		} else if err != nil {
			return nil, err
		}
		reports = append(reports, drawn)
	}
	return map[string]any{"reports": reports}, nil
}

func main() {
	lines, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var asked question
		if err == nil {
			err = json.Unmarshal(line, &asked)
		}
		var said any
		if err == nil {
			said, err = answer(asked)
		}
		if err == nil {
			err = out.Encode(said)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
