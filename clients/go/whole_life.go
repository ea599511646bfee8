package optldp

import (
	"encoding/binary"

	"optldp.example/optldp/internal/drawing"
	"optldp.example/optldp/internal/state"
)

// wholeLife is reports of which one budget holds for a whole history: one sum of it, or signs of its changes. A user's place,
// by shares, says which.
type wholeLife struct {
	salt     []byte
	shares   []int64 // of rows, or of periods and then of branches
	rows     [][]float64
	branches []branch
}

// branch is the users who send a sign whenever so many periods end, by signs that are drawn together.
type branch struct {
	step  int
	signs drawing.Signs
}

// hashed is a word of 64 bits of a user, by its number.
func hashed(salt []byte, name string, number int) uint64 {
	made := digest([]byte(turnTag), salt, []byte(name), binary.LittleEndian.AppendUint64(nil, uint64(number)))
	return binary.LittleEndian.Uint64(made[:])
}

// part is a user's row, branch, or the number of the one period.
func (l *wholeLife) part(name string) (row []float64, of *branch, period int) {
	place := picked(l.shares, hashed(l.salt, name, 0))
	if l.rows != nil {
		return l.rows[place], nil, 0
	}
	if first := len(l.shares) - len(l.branches); place >= first {
		return nil, &l.branches[place-first], 0
	}
	return nil, nil, place + 1
}

func (l *wholeLife) isTurn(name string, period int) bool {
	row, of, own := l.part(name)
	switch {
	case row != nil:
		return period == endOf(row)
	case of != nil:
		return period > 1 && period%of.step == 0
	}
	return period == own
}

// endOf is the last period with a weight.
func endOf(row []float64) int {
	end := len(row)
	for row[end-1] == 0 {
		end--
	}
	return end
}

// note keeps what a later report needs of a period, in turn or not: of a row the first value of each period until its report
// is drawn, of a branch its signs, unless another copy of the state may have drawn them.
func (l *wholeLife) note(numbers *drawing.Numbers, kept *state.Kept, name string, period int, value any) error {
	row, of, _ := l.part(name)
	keeps := row != nil && period <= endOf(row) && len(kept.Reports) == 0
	begins := of != nil && kept.Signs == "" && kept.Lost == 0
	if !keeps && !begins {
		return nil
	}
	number, is := value.(float64)
	if !is || !numbers.Takes(number) {
		return ErrValue
	}
	if keeps {
		kept.Keep(period, number)
		return nil
	}
	word, err := drawing.Word()
	if err != nil {
		return err
	}
	signs, err := drawing.Drawn(1, of.signs.Draw)
	if err != nil {
		return err
	}
	offset := drawing.Share(word)
	kept.Offset, kept.Signs = &offset, sign(numbers, number, offset)+signs
	return nil
}

// drawn is a report that is drawn now; nil where another copy may have sent it.
func (l *wholeLife) drawn(of *member, kept *state.Kept, name string, value any) (*string, error) {
	row, own, _ := l.part(name)
	numbers := &of.table.numbers
	switch {
	case row != nil:
		report, err := of.cell(numbers.Unscaled(summed(numbers, kept.Values, row)))
		if err == nil {
			kept.Values = nil
		}
		return report, err
	case own == nil:
		return of.cell(value)
	case kept.Lost > 0 || kept.Signs == "" || kept.Offset == nil:
		return nil, nil
	}
	number, is := value.(float64)
	if !is || !numbers.Takes(number) {
		return nil, ErrValue
	}
	word, err := drawing.Word() // by all, for a fair sign
	if err != nil {
		return nil, err
	}
	now, last, left := sign(numbers, number, *kept.Offset), kept.Signs[:1], kept.Signs[1:]
	plus := word>>63 == 1
	if now != last && left != "" { // the change, plus if it was upwards, times the next sign
		plus, left = left[:1] == now, left[1:]
	}
	kept.Signs = now + left
	sent := "-"
	if plus {
		sent = "+"
	}
	return &sent, nil
}

func sign(numbers *drawing.Numbers, value, offset float64) string {
	if numbers.Scaled(value) > 2*offset-1 {
		return "+"
	}
	return "-"
}

// summed is the sum of the values that are kept by the weights; a missing value is the one before it, or else the first.
func summed(numbers *drawing.Numbers, values map[int]float64, row []float64) (total float64) {
	held := 0.0
	for period := len(row); period >= 1; period-- {
		if value, has := values[period]; has {
			held = value
		}
	}
	for i, weight := range row {
		if value, has := values[i+1]; has {
			held = value
		}
		total += float64(weight * numbers.Scaled(held)) // no step is joined with the next
	}
	return total
}
