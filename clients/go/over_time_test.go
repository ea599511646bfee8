package optldp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func remembering(t *testing.T) *Way {
	t.Helper()
	way, err := ReadWay(text(t, "memoised.json"))
	if err != nil {
		t.Fatal(err)
	}
	return way
}

func places(t *testing.T) (state, mark FilePlace) {
	t.Helper()
	folder := t.TempDir()
	return FilePlace(filepath.Join(folder, "state")), FilePlace(filepath.Join(folder, "mark"))
}

func TestAReportIsTheSameAfterARestartAndItsFilesAreTheOwners(t *testing.T) {
	way := remembering(t)
	state, mark := places(t)
	sent, err := way.Report("Zoe\u0308", 3, "red", state, mark)
	if err != nil || sent == nil {
		t.Fatalf("a first report must be drawn, got %v, %v", sent, err)
	}
	if err := os.WriteFile(string(state)+".new", nil, 0o644); err != nil { // left by a crash, or by another program
		t.Fatal(err)
	}
	generator(t, strings.NewReader(""))
	if again, err := way.Report("Zo\u00eb", 3, "blue", state, mark); err != nil || again == nil || *again != *sent {
		t.Errorf("the same period must have the same report, got %v, %v", again, err)
	}
	for _, file := range []FilePlace{state, mark} {
		if about, err := os.Stat(string(file)); err != nil || about.Mode().Perm() != 0o600 {
			t.Errorf("a file must be its owner's alone, got %v, %v", about.Mode(), err)
		}
	}
}

func TestAStateOfAnotherUserOrOneThatWasAlteredIsRefused(t *testing.T) {
	way := remembering(t)
	state, mark := places(t)
	if _, err := way.Report("ann", 1, "red", state, mark); err != nil {
		t.Fatal(err)
	}
	if _, err := way.Report("bob", 2, "red", state, mark); !errors.Is(err, ErrState) {
		t.Errorf("a state of another user must be refused, got %v", err)
	}
	whole, _, _ := state.Read()
	changes := map[string]string{`"lost":0`: `"lost":-1`, `"number"`: `"name"`, `"lost":0,`: "", "{": "[", `"reports":{`: `"reports":null,"x":{`}
	for old, other := range changes {
		if err := state.Write(strings.Replace(whole, old, other, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := way.Report("ann", 2, "red", state, mark); !errors.Is(err, ErrState) {
			t.Errorf("a state with %s must be refused, got %v", other, err)
		}
	}
}

func TestWhatIsNoUserPeriodOrValueChangesNoStateAndIsNotTold(t *testing.T) {
	way := remembering(t)
	state, mark := places(t)
	for _, each := range []struct {
		user   string
		period int
		value  any
		why    error
	}{
		{"", 1, "red", ErrUser}, {strings.Repeat("secret", 200), 1, "red", ErrUser}, {"\xff", 1, "red", ErrUser},
		{"ann", 0, "red", ErrPeriod}, {"ann", 13, "red", ErrPeriod}, {"ann", 1, "secret", ErrValue}, {"ann", 1, 7.0, ErrValue},
	} {
		_, err := way.Report(each.user, each.period, each.value, state, mark)
		_, found, _ := state.Read()
		if !errors.Is(err, each.why) || strings.Contains(err.Error(), "secret") || found {
			t.Errorf("%q in period %d must be refused by %v, got %v", each.user, each.period, each.why, err)
		}
	}
}
