// Package optldp draws private reports of numbers and categories by mechanisms that optldp designed. ReadTable and
// ReadCategories read a file and prove it private, in whole numbers; what they return draws, by the platform's secure
// generator alone. No error holds a value.
//
// Formats: docs/table-format.md, docs/floor-form.md, docs/bundle-format.md and docs/report-format.md of optldp.
package optldp

import (
	"crypto/rand"
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"optldp.example/optldp/internal/drawing"
)

// What a draw may fail by. Neither error says what the value was.
var (
	ErrValue      = drawing.ErrValue
	ErrRandomness = drawing.ErrRandomness
)

// TableError says, in one line, why a file is refused.
type TableError struct{ reason string }

func (e *TableError) Error() string { return e.reason }

// Promise is what a mechanism's file says about it, as far as a user is concerned.
type Promise struct {
	Epsilon    float64 // the budget that each report of a value spends; proved
	Identifier string  // the file's name beside reports
}

// Table is a mechanism for numbers, proved private. Threads may share it.
type Table struct {
	Promise
	Units   string
	numbers drawing.Numbers
}

// Domain is the first and the last value that the table takes.
func (t *Table) Domain() (first, last float64) {
	return t.numbers.Knots[0], t.numbers.Knots[len(t.numbers.Knots)-1]
}

// Outputs is how many there are.
func (t *Table) Outputs() int { return len(t.numbers.Low) }

// Index draws the number of an output, from 0. Each draw of a value spends Epsilon again.
func (t *Table) Index(value float64) (int, error) { return t.numbers.Index(value) }

// Report draws a report, in Units. Each draw of a value spends Epsilon again.
func (t *Table) Report(value float64) (float64, error) { return t.numbers.Report(value) }

// Row is a report as it is collected, with its JSON names. One that is sent again must be the same row.
type Row struct {
	Table    string `json:"table"`
	Output   int    `json:"output"`
	Day      string `json:"day"`       // in UTC
	ReportID string `json:"report_id"` // fresh randomness that says nothing of user or value
}

// Row draws an output as a row to send.
func (t *Table) Row(value float64) (Row, error) {
	output, err := t.Index(value)
	if err != nil {
		return Row{}, err
	}
	id := make([]byte, 16)
	if _, err := io.ReadFull(rand.Reader, id); err != nil {
		return Row{}, ErrRandomness
	}
	return Row{t.Identifier, output, time.Now().UTC().Format("2006-01-02"), hex.EncodeToString(id)}, nil
}

// Categories is a mechanism for categories, proved private. Threads may share it.
type Categories struct {
	Promise
	categories
}

type categories struct {
	Kind   string
	Labels []string
	codes  map[string]int
	oracle drawing.Oracle
}

// Report draws a report, as a file holds it, of one of Labels. Each draw of a value spends Epsilon again.
func (c *Categories) Report(value string) (string, error) {
	code, known := c.codes[value]
	if !known {
		return "", ErrValue
	}
	return drawing.Drawn(c.oracle.Words(), func(words *drawing.Words) string { return c.oracle.Draw(code, words) })
}

// ReportText is the one spelling of a report of a number; one that some values had spelled otherwise would tell them.
func ReportText(report float64) string {
	size := math.Abs(report)
	if size == 0 {
		return "0.0" // -0, too
	}
	if size < 1e-4 || size >= 1e16 {
		return strconv.FormatFloat(report, 'e', -1, 64)
	}
	text := strconv.FormatFloat(report, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
