// Package drawing goes from a value and random words of 64 bits to a report, step by step as docs/table-format.md and
// docs/bundle-format.md of optldp have it. It reads no files and checks no mechanism: package optldp does.
package drawing

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
)

// ErrRandomness says that the platform's secure generator failed or gave too little; nothing was drawn.
var ErrRandomness = errors.New("the platform's secure generator must give random bytes, got too few")

const whole = 1 << 53 // the denominator of all probabilities

// Words are random whole numbers of 64 bits, used in their order. Once the generator has failed they are zero, and Drawn
// returns no report.
type Words struct {
	left, all []byte
	failed    bool
}

// Drawn asks the platform's secure generator for so many words, and for more where a draw takes more.
func Drawn[T any](many int, draw func(words *Words) T) (made T, err error) {
	words := &Words{}
	defer func() { erase(words.all) }()
	if words.fill(many); !words.failed {
		drawn := draw(words)
		if !words.failed {
			return drawn, nil
		}
	}
	return made, ErrRandomness
}

// Word is one random word.
func Word() (uint64, error) { return Drawn(1, (*Words).next) }

// Share is a word as a number from 0 to 1, without 1.
func Share(word uint64) float64 { return float64(word>>11) / whole }

func (w *Words) fill(many int) {
	erase(w.all) // what could undo the noise of a report
	w.all = make([]byte, 8*many)
	w.left = w.all
	if _, err := io.ReadFull(rand.Reader, w.all); err != nil {
		erase(w.all)
		w.failed = true
	}
}

func (w *Words) next() uint64 {
	if w.failed {
		return 0
	}
	if len(w.left) == 0 {
		if w.fill(1); w.failed {
			return 0
		}
	}
	word := binary.LittleEndian.Uint64(w.left)
	w.left = w.left[8:]
	return word
}

// below is a whole number below a bound; words that would favour some are drawn again.
func (w *Words) below(bound uint64) uint64 {
	rest := -bound % bound // 2^64 modulo the bound
	for {
		if word := w.next(); rest == 0 || word < -rest {
			return word % bound
		}
	}
}

func erase(bytes []byte) {
	for i := range bytes {
		bytes[i] = 0
	}
	runtime.KeepAlive(bytes)
}
