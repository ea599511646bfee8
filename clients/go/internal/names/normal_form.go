// Package names writes the names of users in Unicode's form NFC, of which Go's library has nothing: a name that two
// keyboards write in two ways is one user's.
package names

import (
	"sort"
	"strconv"
	"strings"
	"sync"
)

const (
	syllables = 0xac00 // of Hangul, which are computed
	leads     = 0x1100
	vowels    = 0x1161
	tails     = 0x11a7 // one before the first, for none
	manyLeads = 19
	manyVowel = 21
	manyTails = 28
	unchanged = 0x300 // all characters below this stand as they are
)

type ranged struct {
	first, last rune
	class       int
}

var (
	once      sync.Once
	parts     map[rune][]rune
	wholes    map[[2]rune]rune
	combining []ranged
)

func load() {
	parts, wholes = map[rune][]rune{}, map[[2]rune]rune{}
	for _, line := range decomposed {
		entries := strings.Fields(line)
		own := code(entries[0])
		for _, entry := range entries[1:] {
			one, two, pair := strings.Cut(strings.TrimSuffix(entry, "!"), ".")
			if parts[own] = []rune{code(one)}; pair {
				parts[own] = append(parts[own], code(two))
				if !strings.HasSuffix(entry, "!") {
					wholes[[2]rune{code(one), code(two)}] = own
				}
			}
			own++
		}
	}
	for _, line := range classes {
		entries := strings.Fields(line)
		for _, entry := range entries[1:] {
			first, last, _ := strings.Cut(entry, "-")
			combining = append(combining, ranged{code(first), code(last), int(code(entries[0]))})
		}
	}
}

func code(digits string) rune {
	made, err := strconv.ParseUint(digits, 16, 21)
	if err != nil {
		panic(err) // the lines are this package's own
	}
	return rune(made)
}

func class(of rune) int {
	for _, each := range combining {
		if each.first <= of && of <= each.last {
			return each.class
		}
	}
	return 0
}

func decompose(of rune, to []rune) []rune {
	if syllable := of - syllables; syllable >= 0 && syllable < manyLeads*manyVowel*manyTails {
		to = append(to, leads+syllable/(manyVowel*manyTails), vowels+syllable/manyTails%manyVowel)
		if tail := syllable % manyTails; tail > 0 {
			to = append(to, tails+tail)
		}
		return to
	}
	own, has := parts[of]
	if !has {
		return append(to, of)
	}
	return append(decompose(own[0], to), own[1:]...) // the second part has no parts
}

func composed(one, two rune) (rune, bool) {
	lead, vowel := one-leads, two-vowels
	if lead >= 0 && lead < manyLeads && vowel >= 0 && vowel < manyVowel {
		return syllables + (lead*manyVowel+vowel)*manyTails, true
	}
	syllable, tail := one-syllables, two-tails
	open := syllable >= 0 && syllable < manyLeads*manyVowel*manyTails && syllable%manyTails == 0
	if open && tail > 0 && tail < manyTails {
		return one + tail, true
	}
	whole, has := wholes[[2]rune{one, two}]
	return whole, has
}

// Normal is a text in the form NFC.
func Normal(text string) string {
	if strings.IndexFunc(text, func(each rune) bool { return each >= unchanged }) < 0 {
		return text
	}
	once.Do(load)
	apart := []rune{}
	for _, each := range text {
		apart = decompose(each, apart)
	}
	for start := 0; start < len(apart); {
		end := start + 1
		for end < len(apart) && class(apart[end]) > 0 {
			end++
		}
		run := apart[start:end] // what is of class 0 stands first
		sort.SliceStable(run, func(i, j int) bool { return class(run[i]) < class(run[j]) })
		start = end
	}
	made, starter, before := []rune{}, -1, 0
	for _, each := range apart {
		own := class(each)
		if starter >= 0 && (before < own || before == 0 && starter+1 == len(made)) {
			if whole, fits := composed(made[starter], each); fits {
				made[starter] = whole
				continue
			}
		}
		if own == 0 {
			starter = len(made)
		}
		before, made = own, append(made, each)
	}
	return string(made)
}
