package state

import (
	"encoding/json"
	"errors"
	"strings"
)

const format = "optldp-periods/1"

// ErrState says that a state or its mark is another way's or user's, or was altered.
var ErrState = errors.New("the state and its mark must be this user's, as they were left, got others")

// Kept is a state. Numbers of periods are from 1 on, 0 for none.
type Kept struct {
	Format  string         `json:"format"`
	Owner   string         `json:"owner"`   // a digest of the way and the user
	Number  uint64         `json:"number"`  // how often it was written
	Latest  int            `json:"latest"`  // the last period that was asked for
	Lost    int            `json:"lost"`    // until this period another copy may have sent reports that this one has not
	Turns   []int          `json:"turns"`   // where the device drew them
	Reports map[int]string `json:"reports"` // what was sent, by period
	Draws   map[int]string `json:"draws"`   // of values that are remembered: each one's report by its place
	Offset  *float64       `json:"offset"`  // of rounding to knots, once it is drawn
	Last    *int           `json:"last"`    // the place that was sent last

	// Of whole lives: the values until a report is drawn, by period; and of + and - the value's own when the last block ended,
	// and those that were drawn at first and are not used.
	Values map[int]float64 `json:"values,omitempty"`
	Signs  string          `json:"signs,omitempty"`
}

type mark struct {
	Number *uint64 `json:"number"`
	Latest *int    `json:"latest"`
}

// Of is what a state of an owner says, or nothing yet; what a copy that was further may have sent counts as spent. Not
// marked: there is no mark.
func Of(state, beside Place, owner string) (kept *Kept, marked bool, err error) {
	further, marked, err := beside.Read()
	if err != nil {
		return nil, marked, err
	}
	text, found, err := state.Read()
	if err != nil {
		return nil, marked, err
	}
	kept = &Kept{Format: format, Owner: owner, Reports: map[int]string{}, Draws: map[int]string{}}
	if found {
		*kept = Kept{}
		fits := strict(text, kept) && kept.Format == format && kept.Owner == owner && kept.Reports != nil && kept.Draws != nil
		again, err := json.Marshal(kept) // which differs where a member is missing
		fits = fits && strings.Trim(kept.Signs, "+-") == ""
		if !fits || err != nil || string(again) != text || kept.Latest < 0 || kept.Lost < 0 {
			return nil, marked, ErrState
		}
	}
	if marked {
		own := mark{}
		if !strict(further, &own) || own.Number == nil || own.Latest == nil || *own.Latest < 0 {
			return nil, marked, ErrState
		}
		if *own.Number > kept.Number {
			kept.Number, kept.Latest = *own.Number, larger(kept.Latest, *own.Latest)
			kept.Lost = larger(kept.Lost, *own.Latest)
		}
	}
	return kept, marked, nil
}

func strict(text string, to any) bool {
	reader := json.NewDecoder(strings.NewReader(text))
	reader.DisallowUnknownFields()
	return reader.Decode(to) == nil && !reader.More()
}

func larger(one, two int) int {
	if one > two {
		return one
	}
	return two
}

// Keep keeps the first value of a period.
func (k *Kept) Keep(period int, value float64) {
	if k.Values == nil {
		k.Values = map[int]float64{}
	}
	if _, has := k.Values[period]; !has {
		k.Values[period] = value
	}
}

// Lose counts periods up to one as sent by another copy.
func (k *Kept) Lose(period int) { k.Lost = larger(k.Lost, period) }

// Mark writes the mark.
func (k *Kept) Mark(beside Place) error {
	text, err := json.Marshal(mark{&k.Number, &k.Latest})
	if err != nil {
		return err
	}
	return beside.Write(string(text))
}

// Write writes the state of a period that was asked for, then its mark: only then a report may leave.
func (k *Kept) Write(state, beside Place, period int) error {
	k.Latest = larger(k.Latest, period)
	k.Number++
	text, err := json.Marshal(k)
	if err == nil {
		err = state.Write(string(text))
	}
	if err != nil {
		return err
	}
	return k.Mark(beside)
}
