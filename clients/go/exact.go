package optldp

import (
	"math"
	"math/big"
)

const denominator = 1 << 53

var scale = new(big.Int).Lsh(big.NewInt(1), 128)

// exponentialBelow is a whole number p with p / 2^128 <= e^epsilon: Taylor's series, every term rounded down.
func exponentialBelow(epsilon float64) *big.Int {
	fraction, exponent := math.Frexp(epsilon)
	mantissa := big.NewInt(int64(math.Ldexp(fraction, 53))) // epsilon is mantissa 2^(exponent - 53)
	total, term := new(big.Int), new(big.Int).Set(scale)
	for k := int64(1); term.Sign() > 0; k++ {
		total.Add(total, term)
		term.Mul(term, mantissa).Rsh(term, uint(53-exponent)) // budgets are below 2^53
		term.Quo(term, big.NewInt(k))                         // a floor of a floor is that of the whole fraction
	}
	return total
}

// proveRatio refuses p / q above e^epsilon, given exponentialBelow(epsilon); 0 / 0 passes.
func proveRatio(p, q *big.Int, limit *big.Int) {
	left, right := new(big.Int).Mul(p, scale), new(big.Int).Mul(q, limit)
	need(left.Cmp(right) <= 0, "every ratio must be proved at most e^epsilon, got more")
}

// unit is the power of two of which all these doubles are multiples; infinite ones do not count.
type unit int

func unitOf(lists ...[]float64) unit {
	least := 1024
	for _, list := range lists {
		for _, x := range list {
			if x == 0 || math.IsInf(x, 0) {
				continue
			}
			if _, exponent := math.Frexp(x); exponent-53 < least {
				least = exponent - 53
			}
		}
	}
	return unit(least)
}

// of is a finite double in the unit.
func (u unit) of(x float64) *big.Int {
	fraction, exponent := math.Frexp(x)
	made := big.NewInt(int64(math.Ldexp(fraction, 53)))
	if made.Sign() == 0 {
		return made
	}
	return made.Lsh(made, uint(exponent-53-int(u)))
}

// needUnbiased checks the mean of a row, a sum over 2^53 in the unit, against its knot: to 1e-12 of the domain, or 2^-50 of
// the largest report.
func (u unit) needUnbiased(total *big.Int, knot float64, width, farthest *big.Int) {
	off := u.of(knot)
	off.Lsh(off, 53).Sub(total, off).Abs(off)
	fits := off.Cmp(new(big.Int).Lsh(farthest, 3)) <= 0 // 2^53 / 2^50
	if !fits {
		left := new(big.Int).Mul(off, big.NewInt(1_000_000_000_000))
		fits = left.Cmp(new(big.Int).Lsh(width, 53)) <= 0
	}
	need(fits, "a table that claims to be unbiased must be so to 1e-12 of its domain")
}
