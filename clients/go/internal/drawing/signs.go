package drawing

// Signs draws plus and minus signs together: Weights are those of 0, 1, ... plus signs, all orders together.
type Signs struct{ Weights []uint64 }

// Draw draws all of them.
func (s Signs) Draw(words *Words) string {
	total := uint64(0)
	for _, weight := range s.Weights {
		total += weight
	}
	left, plus := words.below(total), 0
	for ; left >= s.Weights[plus]; plus++ {
		left -= s.Weights[plus]
	}
	made := make([]byte, len(s.Weights)-1)
	for i, one := range choices(len(made), len(made), words) {
		if made[i] = '-'; one < plus {
			made[i] = '+'
		}
	}
	return string(made)
}

// Scaled is a value of the domain moved to [-1, 1].
func (n *Numbers) Scaled(value float64) float64 {
	low, high := n.Knots[0], n.Knots[len(n.Knots)-1]
	return (value - 0.5*(low+high)) / (0.5 * (high - low))
}

// Unscaled is the value of the domain that a number of [-1, 1], or the nearest of these, stands for.
func (n *Numbers) Unscaled(told float64) float64 {
	low, high := n.Knots[0], n.Knots[len(n.Knots)-1]
	return clipped(0.5*(low+high)+float64(0.5*(high-low)*clipped(told, -1, 1)), low, high) // no step is joined with the next
}

func clipped(value, low, high float64) float64 {
	if value < low {
		return low
	}
	if value > high {
		return high
	}
	return value
}
