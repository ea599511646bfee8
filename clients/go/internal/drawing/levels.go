package drawing

import (
	"encoding/hex"
	"strconv"
)

// Place is a report's place among all of an oracle's: of bits as binary digits, of sets in lexicographic order.
func Place(oracle Oracle, report string) string {
	size, left := 0, 0
	switch oracle := oracle.(type) {
	case *Unary:
		size = oracle.Size
	case *Subset:
		size, left = oracle.Size, oracle.Chosen
	default:
		return report
	}
	bytes, _ := hex.DecodeString(report)
	place, unary := 0, left == 0
	for k := 0; k < size; k++ {
		one := int(bytes[k/8]>>(7-k%8)) & 1
		switch {
		case unary:
			place = 2*place + one
		case one == 1:
			left--
		case left > 0:
			place += int(sets(size-k-1, left-1)) // those that hold k instead come before
		}
	}
	return strconv.Itoa(place)
}

// sets is how many sets of so many there are.
func sets(size, many int) float64 {
	made := 1.0
	for i := 1; i <= many; i++ {
		made = made * float64(size-many+i) / float64(i)
	}
	return made
}
