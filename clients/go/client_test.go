package optldp

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"optldp.example/optldp/internal/drawing"
)

// generator gives the bytes that are left and fails after them.
func generator(t *testing.T, bytes io.Reader) {
	t.Helper()
	platform := rand.Reader
	rand.Reader = bytes
	t.Cleanup(func() { rand.Reader = platform })
}

func text(t *testing.T, name string) []byte {
	t.Helper()
	made, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func examples(t *testing.T) (*Table, *Categories) {
	t.Helper()
	table, err := ReadTable(text(t, "table.json"))
	if err != nil {
		t.Fatal(err)
	}
	categories, err := ReadCategories(text(t, "categories.json"))
	if err != nil {
		t.Fatal(err)
	}
	return table, categories
}

func TestAGeneratorThatFailsOrGivesTooLittleStopsEveryDraw(t *testing.T) {
	table, categories := examples(t)
	for size := 0; size < 8; size++ {
		draws := map[string]func() error{
			"index":    func() error { _, err := table.Index(5); return err },
			"report":   func() error { _, err := table.Report(5); return err },
			"row":      func() error { _, err := table.Row(5); return err },
			"category": func() error { _, err := categories.Report("yes"); return err },
		}
		for name, draw := range draws {
			generator(t, bytes.NewReader(make([]byte, size)))
			if err := draw(); !errors.Is(err, ErrRandomness) {
				t.Errorf("%s of %d random bytes must stop, got %v", name, size, err)
			}
		}
	}
	generator(t, bytes.NewReader(make([]byte, 16+15))) // enough for the output, a byte too little for the id
	if row, err := table.Row(5); !errors.Is(err, ErrRandomness) || row != (Row{}) {
		t.Errorf("a row without its id must not be made, got %v", err)
	}
}

func TestNoErrorHoldsTheValue(t *testing.T) {
	table, categories := examples(t)
	for _, value := range []float64{-1234.5, 1234.5, math.NaN(), math.Inf(1)} {
		if _, err := table.Report(value); !errors.Is(err, ErrValue) || strings.Contains(err.Error(), "1234") {
			t.Errorf("a value outside the domain must be refused without it, got %v", err)
		}
	}
	if _, err := categories.Report("perhaps"); !errors.Is(err, ErrValue) || strings.Contains(err.Error(), "perhaps") {
		t.Errorf("another category must be refused without it, got %v", err)
	}
}

func TestARowHasTheTableAndAnIdOfItsOwn(t *testing.T) {
	table, _ := examples(t)
	one, _ := table.Row(5)
	other, err := table.Row(5)
	if err != nil || one.Table != "td1b5bbb230a1" || one.ReportID == other.ReportID {
		t.Errorf("rows must name their table and differ in their ids, got %+v, %+v, %v", one, other, err)
	}
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(one.Day) || len(one.ReportID) != 32 {
		t.Errorf("a row must have a day and 16 bytes of id, got %+v", one)
	}
}

func TestReportsHaveOneSpelling(t *testing.T) {
	spellings := map[float64]string{
		4: "4.0", math.Copysign(0, -1): "0.0", 0.25: "0.25", 1e-5: "1e-05", 1.5e-7: "1.5e-07", 1e16: "1e+16",
		-1234567: "-1234567.0", 0.0001: "0.0001", -2.5e100: "-2.5e+100", 1 << 60: "1.152921504606847e+18",
	}
	for report, spelling := range spellings {
		if got := ReportText(report); got != spelling {
			t.Errorf("%v must be written %s, got %s", report, spelling, got)
		}
	}
}

func TestExponentialsAreThoseOfTheFormat(t *testing.T) {
	known := map[float64]string{ // docs/table-format.md
		1e-6: "340282707203475525641996883601684575467", 0.1: "376070175854967949997811065875908726404",
		1: "924983374546220337150911035843336795063", 1.1: "1022264725251957049509428564144370727881",
		16: "3023786720639471391386628479363219963056598659",
	}
	for epsilon, p := range known {
		if got := exponentialBelow(epsilon).String(); got != p {
			t.Errorf("p of %v must be %s, got %s", epsilon, p, got)
		}
	}
}

func TestWhatEncodingJsonLetsPassIsRefused(t *testing.T) {
	good := string(text(t, "table.json"))
	put := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	changed := []struct{ name, document, says string }{
		{"a key twice", put(`"epsilon": 1.1,`, `"epsilon": 9, "epsilon": 1.1,`), "must not repeat"},
		{"another case of a key", put(`"epsilon"`, `"Epsilon"`), "must have the keys"},
		{"half a surrogate pair", put("EUR", `\ud83d`), "half a surrogate pair"},
		{"the other half", put("EUR", `\\\ude00`), "half a surrogate pair"},
		{"what is not UTF-8", put("EUR", "\xff"), "in UTF-8"},
		{"a whole number in disguise", put("2251799813685248]", "2251799813685248.0]"), "must be whole numbers"},
		{"one more than a double", put("9007199254740992", "9007199254740993"), "denominator must be"},
		{"more than one value", good + "{}", "whole JSON text"},
		{"the half of it", good[:len(good)/2], "whole JSON text"},
		{"seventeen lists", strings.Repeat("[", 17) + strings.Repeat("]", 17), "nested at most 16 deep"},
	}
	for _, each := range changed {
		var refused *TableError
		if _, err := ReadTable([]byte(each.document)); !errors.As(err, &refused) || !strings.Contains(err.Error(), each.says) {
			t.Errorf("%s must be refused for it, got %v", each.name, err)
		}
	}
	if !inPairs([]byte(`"\ud83d\ude00 \\ud83d \u00e9"`)) {
		t.Error("whole pairs, and what only looks like an escape, must be taken")
	}
}

func TestAGeneratorThatStopsAfterAnyWordLeavesNoReport(t *testing.T) {
	for size := 0; size < 16; size++ {
		generator(t, bytes.NewReader(make([]byte, size)))
		made, err := drawing.Drawn(1, func(words *drawing.Words) []int { return drawing.Sampled(5, 2, words) })
		if made != nil || !errors.Is(err, ErrRandomness) {
			t.Errorf("%d bytes of 16 must stop the draw, got %v, %v", size, made, err)
		}
	}
}
