// Command benchmark says how fast the client draws, in processor seconds of Unix, the best of five: `benchmark FILE`.
package main

import (
	"fmt"
	"log"
	"os"
	"syscall"
	"time"

	"optldp.example/optldp"
)

const reports = 100_000

func rate(draw func() error) float64 {
	best := time.Duration(0)
	for run := 0; run < 5; run++ {
		before := spent()
		for i := 0; i < reports; i++ {
			if err := draw(); err != nil {
				log.Fatal(err)
			}
		}
		if taken := spent() - before; run == 0 || taken < best {
			best = taken
		}
	}
	return reports / best.Seconds()
}

// spent is the processor time of this program so far.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("FILE must be given: a table, a floor form or a mechanism for categories")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if table, err := optldp.ReadTable(text); err == nil {
		first, last := table.Domain()
		value := float64(0.63*first) + float64(0.37*last)
		index := rate(func() error { _, err := table.Index(value); return err })
		report := rate(func() error { _, err := table.Report(value); return err })
		fmt.Printf("%d outputs; index: %.3g a second; report: %.3g a second\n", table.Outputs(), index, report)
		return
	}
	oracle, err := optldp.ReadCategories(text)
	if err != nil {
		log.Fatal(err)
	}
	report := rate(func() error { _, err := oracle.Report(oracle.Labels[0]); return err })
	fmt.Printf("%d categories; report: %.3g a second\n", len(oracle.Labels), report)
}
