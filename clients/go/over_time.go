package optldp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/bits"
	"unicode/utf8"

	"optldp.example/optldp/internal/drawing"
	"optldp.example/optldp/internal/names"
	"optldp.example/optldp/internal/state"
)

const (
	turnTag     = "optldp-turn/1"
	longestName = 1024 // characters
)

// Why a way over time has no answer. None says what the value was.
var (
	ErrUser   = errors.New("the user must be text of 1 to 1024 characters, got something else")
	ErrPeriod = errors.New("the period must be a whole number from 1 to the last, got another")
	ErrState  = state.ErrState
)

// Place is where a device keeps a text; FilePlace is one, the path of a file.
type (
	Place     = state.Place
	FilePlace = state.FilePlace
)

// Way is a way of reporting over time, proved private. Epsilon is, of a panel, the budget of a user's reports in all periods,
// or in any span of them; of values that are remembered that of all draws, of two histories that change and come back at
// the same times, and of nothing else.
type Way struct {
	Promise
	Kind    string
	Periods int
	member
	panel  *panel
	values int // that are remembered
	life   *wholeLife
}

// member is the mechanism by which a period is reported.
type member struct {
	placed
	table  *exactTable // nil of categories
	oracle categories
}

// panel is when users report. Without a salt each device draws its turns.
type panel struct {
	reports, span int
	salt          []byte
	shares        []int64
}

// Report is the report of a period as a file holds it; nil where nothing is to be sent. A value is a float64 or a string.
//
// The report is in the state, which is in store, before it is returned. The same period has the same report again, whatever the value is, and
// after a later period was asked for an earlier one has no new one. A state that is missing or behind its mark counts as
// spent until there: keep the mark where it is not restored or lost together with the state. One process at a time may ask.
func (w *Way) Report(user string, period int, value any, store, mark Place) (report *string, err error) {
	size := utf8.RuneCountInString(user)
	if size < 1 || size > longestName || !utf8.ValidString(user) {
		return nil, ErrUser
	}
	if period < 1 || period > w.Periods {
		return nil, ErrPeriod
	}
	name := names.Normal(user)
	owner := digest([]byte(w.Identifier), []byte(name))
	kept, marked, err := state.Of(store, mark, hex.EncodeToString(owner[:]))
	if err != nil {
		return nil, err
	}
	if !marked {
		if kept.Number > 0 { // the mark was lost: another copy may have sent this period's report
			kept.Lose(period)
		}
		if err := kept.Mark(mark); err != nil {
			return nil, err
		}
	}
	mine, err := w.isTurn(kept, name, period)
	if err != nil {
		return nil, err
	}
	if w.life != nil {
		if err := w.life.note(&w.table.numbers, kept, name, period, value); err != nil {
			return nil, err
		}
	}
	if _, sent := kept.Reports[period]; mine && !sent && period >= kept.Latest && period > kept.Lost {
		drawn, err := w.drawn(kept, name, value)
		if err != nil {
			return nil, err
		}
		if drawn != nil {
			kept.Reports[period] = *drawn
		}
	}
	if err := kept.Write(store, mark, period); err != nil {
		return nil, err
	}
	if sent, has := kept.Reports[period]; has {
		return &sent, nil
	}
	return nil, nil
}

func (w *Way) isTurn(kept *state.Kept, name string, period int) (bool, error) {
	if w.life != nil {
		return w.life.isTurn(name, period), nil
	}
	if w.panel == nil {
		return true, nil
	}
	turns := kept.Turns
	switch {
	case w.panel.salt != nil:
		turns, _ = w.panel.turns(func(number int) (uint64, error) {
			return hashed(w.panel.salt, name, number), nil
		})
	case turns == nil && kept.Lost > 0:
		kept.Turns = []int{}
	case turns == nil:
		drawn, err := w.panel.turns(func(int) (uint64, error) { return drawing.Word() })
		if err != nil {
			return false, err
		}
		turns, kept.Turns = drawn, drawn
	}
	for _, turn := range turns {
		if turn == (period-1)%w.panel.span+1 {
			return true, nil
		}
	}
	return false, nil
}

// turns are those of words.
func (p *panel) turns(word func(number int) (uint64, error)) ([]int, error) {
	if p.shares != nil {
		first, err := word(0)
		return []int{1 + picked(p.shares, first)}, err
	}
	turns, chosen := make([]int, p.reports), map[int]bool{}
	for i := range turns {
		last := p.span - p.reports + i + 1
		drawn, err := word(i)
		if err != nil {
			return nil, err
		}
		if turns[i] = 1 + int(placeOf(drawn, uint64(last))); chosen[turns[i]] {
			turns[i] = last
		}
		chosen[turns[i]] = true
	}
	return turns, nil
}

// placeOf is the place that a word picks of so many, from 0.
func placeOf(word, many uint64) uint64 {
	place, _ := bits.Mul64(word, many)
	return place
}

// picked is the place that a word picks by shares, from 0.
func picked(shares []int64, word uint64) int {
	total, end := int64(0), int64(0)
	for _, share := range shares {
		total += share
	}
	chosen := int64(placeOf(word, uint64(total)))
	for place, share := range shares {
		if end += share; end > chosen {
			return place
		}
	}
	return len(shares) - 1
}

// drawn is a report that is drawn now, or remembered; nil where nothing may be drawn.
func (w *Way) drawn(kept *state.Kept, name string, value any) (*string, error) {
	if w.panel != nil {
		return w.cell(value)
	}
	if w.life != nil {
		return w.life.drawn(&w.member, kept, name, value)
	}
	if kept.Offset == nil {
		word, err := drawing.Word()
		if err != nil {
			return nil, err
		}
		offset := drawing.Share(word)
		kept.Offset = &offset
	}
	place, at, fits := w.rounded(value, *kept.Offset)
	if !fits {
		return nil, ErrValue
	}
	_, known := kept.Draws[place]
	if !known && len(kept.Draws) < w.values && kept.Lost == 0 {
		report, err := w.cell(at)
		if err != nil {
			return nil, err
		}
		kept.Draws[place], known = *report, true
	}
	if known {
		kept.Last = &place
	}
	if kept.Last == nil {
		return nil, nil
	}
	report := kept.Draws[*kept.Last]
	return &report, nil
}

// rounded is the number of a value's category, or of the knot that it is rounded to, and what is reported of it.
func (m *member) rounded(value any, offset float64) (place int, at any, fits bool) {
	if m.table == nil {
		label, _ := value.(string)
		place, fits = m.oracle.codes[label]
		return place, label, fits
	}
	number, is := value.(float64)
	numbers := &m.table.numbers
	if !is || !numbers.Takes(number) {
		return 0, nil, false
	}
	place = numbers.Rounded(number, offset)
	return place, numbers.Knots[place], true
}

// cell draws a report of a value.
func (m *member) cell(value any) (*string, error) {
	draw, fits := m.place(value)
	if !fits {
		return nil, ErrValue
	}
	cells, err := drawing.Drawn(1, draw)
	if err != nil {
		return nil, err
	}
	return &cells[0], nil
}

// digest is the SHA-256 of parts, each with its length before it.
func digest(parts ...[]byte) [sha256.Size]byte {
	framed := []byte{}
	for _, part := range parts {
		framed = append(binary.LittleEndian.AppendUint64(framed, uint64(len(part))), part...)
	}
	return sha256.Sum256(framed)
}
