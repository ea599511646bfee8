package optldp

import "math"

const (
	mostSide    = 1 << 15
	mostEntries = 1 << 25
)

// around is what tables and floor forms share.
type around struct {
	epsilon  float64
	units    string
	knots    []float64
	unbiased bool // what reports claim to be
}

func readAround(document map[string]any) around {
	epsilon := asEpsilon(document["epsilon"])
	knots := asNumbers("knots", document["knots"])
	need(len(knots) >= 2 && len(knots) <= mostSide, "knots must be 2 to %d", mostSide)
	for k := 1; k < len(knots); k++ {
		need(knots[k-1] < knots[k], "knots must be strictly increasing")
	}
	width := knots[len(knots)-1] - knots[0]
	need(width > 1e-100 && width < 1e100, "knots must span 1e-100 to 1e100")
	units, parameters := asText("units", document["units"]), readProvenance(document["provenance"])
	if document["prior"] != nil {
		needPrior(document["prior"], len(knots))
	}
	return around{epsilon, units, knots, parameters["unbiased"] == true}
}

func asEpsilon(value any) float64 {
	epsilon := asNumber("epsilon", value)
	need(epsilon >= 1e-6 && epsilon <= 16, "epsilon must be in [1e-6, 16]")
	return epsilon
}

// readProvenance checks how a mechanism came about; it returns the parameters of its method.
func readProvenance(value any) map[string]any {
	origin := asObject("provenance", value, "method", "parameters", "version", "certificate")
	asText("method", origin["method"])
	asText("version", origin["version"])
	if origin["certificate"] != nil {
		needRecord("certificate", origin["certificate"])
	}
	return needRecord("parameters", origin["parameters"])
}

func needRecord(name string, value any) map[string]any {
	record := asObject(name, value)
	for _, entry := range record {
		list, is := entry.([]any)
		if !is {
			list = []any{entry}
		}
		for _, each := range list {
			switch each.(type) {
			case []any, map[string]any:
				need(false, "%s must hold plain values or lists of them", name)
			}
		}
	}
	return record
}

func needPrior(value any, knots int) {
	prior := asObject("prior", value, "weights", "rounding", "source")
	weights, rounding := asNumbers("weights", prior["weights"]), asNumbers("rounding", prior["rounding"])
	need(len(weights) == knots && len(rounding) == knots-1, "a prior must have %d weights, one rounding less", knots)
	sum := 0.0
	for i := range weights {
		need(weights[i] >= 0 && (i == knots-1 || rounding[i] >= 0), "a prior must have no negative numbers")
		sum += weights[i]
	}
	need(math.Abs(sum-1) <= 1e-9, "the weights of a prior must sum to 1")
	switch prior["source"] {
	case "public", "private-report", "sensitive":
	default:
		need(false, "a prior must name its source")
	}
}

func needOutputs(low, high []float64) {
	need(len(low) == len(high) && len(low) > 0, "outputs must have as many low as high ends, at least 1")
	need(len(low) <= mostSide, "outputs must be at most %d", mostSide)
	reach := math.Inf(-1)
	for j := range low {
		point := low[j] == high[j]
		need(low[j] < high[j] || point && !math.IsInf(low[j], 0), "every output must have low <= high")
		for _, end := range []float64{low[j], high[j]} {
			need(math.Abs(end) <= 1e120 || math.IsInf(end, 0), "finite ends must be within 1e120")
		}
		rising := j == 0 || low[j-1] < low[j] || low[j-1] == low[j] && high[j-1] < high[j]
		need(rising, "outputs must be sorted and different")
		need(point || low[j] >= reach, "cells must not overlap the cell before them")
		if !point {
			reach = high[j]
		}
	}
}
