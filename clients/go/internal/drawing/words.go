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

// words are random whole numbers of 64 bits, which are asked for together and used in their order.
type words struct {
	left, all []byte
}

// drawn asks the platform's secure generator for so many words.
func drawn(many int) (*words, error) {
	bytes := make([]byte, 8*many)
	if _, err := io.ReadFull(rand.Reader, bytes); err != nil {
		erase(bytes)
		return nil, ErrRandomness
	}
	return &words{bytes, bytes}, nil
}

// next is the next word; there must be one left.
func (w *words) next() uint64 {
	word := binary.LittleEndian.Uint64(w.left)
	w.left = w.left[8:]
	return word
}

// below is a whole number below a bound; words that would favour some are drawn again.
func (w *words) below(bound uint64) (uint64, error) {
	rest := -bound % bound // 2^64 modulo the bound
	for {
		if len(w.left) == 0 {
			more, err := drawn(1)
			if err != nil {
				return 0, err
			}
			w.erase()
			*w = *more
		}
		if word := w.next(); rest == 0 || word < -rest {
			return word % bound, nil
		}
	}
}

// erase clears what could undo the noise of a report.
func (w *words) erase() { erase(w.all) }

func erase(bytes []byte) {
	for i := range bytes {
		bytes[i] = 0
	}
	runtime.KeepAlive(bytes)
}
