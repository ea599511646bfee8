package drawing

// Field is one of Prime ^ len(Tail) elements; Tail are the coefficients below the highest of its polynomial.
type Field struct {
	Prime uint64
	Tail  []uint64
}

// Size is how many elements there are.
func (f Field) Size() uint64 { return power(f.Prime, len(f.Tail)) }

// Points is how many vectors of so many digits there are whose first entry that is not zero is one.
func (f Field) Points(digits int) uint64 { return (power(f.Size(), digits) - 1) / (f.Size() - 1) }

// hashed is the hash of a category's number, of so many digits, under a seed.
func (f Field) hashed(seed uint64, code, digits int) uint64 {
	parts := make([]uint64, digits)
	for i := range parts {
		parts[i] = uint64(code) / power(f.Size(), i) % f.Size()
	}
	return f.inner(f.point(seed, digits), parts)
}

func (f Field) inner(a, b []uint64) uint64 {
	total := uint64(0)
	for i := range a {
		total = f.sum(total, f.product(a[i], b[i]))
	}
	return total
}

// solve is the element for which something holds.
func (f Field) solve(holds func(entry uint64) bool) uint64 {
	entry := uint64(0)
	for entry < f.Size()-1 && !holds(entry) {
		entry++
	}
	return entry
}

// number is that of the point on the line of a vector, which is not zero.
func (f Field) number(vector []uint64) uint64 {
	for vector[0] == 0 {
		vector = vector[1:]
	}
	inverse := f.solve(func(entry uint64) bool { return f.product(entry, vector[0]) == 1 })
	free := uint64(0)
	for _, entry := range vector[1:] {
		free = free*f.Size() + f.product(inverse, entry)
	}
	return f.Points(len(vector)-1) + free
}

// point is the vector of a number, of so many entries: those before its one are zero, those behind it are free.
func (f Field) point(number uint64, digits int) []uint64 {
	g, free := f.Size(), 0
	for free+1 < digits && number >= power(g, free) {
		number -= power(g, free)
		free++
	}
	made := make([]uint64, digits)
	made[digits-1-free] = 1
	for place := 0; place < free; place++ {
		made[digits-1-place] = number / power(g, place) % g
	}
	return made
}

func (f Field) parts(element uint64) []uint64 {
	made := make([]uint64, len(f.Tail))
	for i := range made {
		made[i] = element % f.Prime
		element /= f.Prime
	}
	return made
}

func (f Field) whole(parts []uint64) uint64 {
	made := uint64(0)
	for i := len(parts) - 1; i >= 0; i-- {
		made = made*f.Prime + parts[i]%f.Prime
	}
	return made
}

func (f Field) sum(a, b uint64) uint64 {
	parts, others := f.parts(a), f.parts(b)
	for i := range parts {
		parts[i] += others[i]
	}
	return f.whole(parts)
}

func (f Field) product(a, b uint64) uint64 {
	total, last := make([]uint64, len(f.Tail)), len(f.Tail)-1
	power := f.parts(a)
	for _, digit := range f.parts(b) {
		for i := range total {
			total[i] = (total[i] + digit*power[i]) % f.Prime
		}
		top := power[last] // what leaves at the top comes back as the polynomial has it
		copy(power[1:], power[:last])
		power[0] = 0
		for i, e := range f.Tail {
			power[i] = (power[i] + top*(f.Prime-e)) % f.Prime
		}
	}
	return f.whole(total)
}

func power(base uint64, exponent int) uint64 {
	made := uint64(1)
	for ; exponent > 0; exponent-- {
		made *= base
	}
	return made
}
