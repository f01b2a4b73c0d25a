package main

import "slices"

const (
	maxScore       = 100
	maxPriority    = 10
	taintWeight    = 3
	affinityWeight = 2
)

// column is what one plugin says about each node, from 0 to 100.
type column struct {
	scores []int64
	weight int64
}

// fewest gives nodes with fewer untolerated soft taints a higher score.
func fewest(counts []int64) column {
	_, highest := bounds(counts)
	scores := make([]int64, len(counts))
	for i, count := range counts {
		scores[i] = maxScore
		if highest > 0 {
			scores[i] -= maxScore * count / highest
		}
	}
	return column{scores, taintWeight}
}

// most gives nodes with a larger sum of weights a higher score.
func most(sums []int64) column {
	_, highest := bounds(sums)
	scores := make([]int64, len(sums))
	for i, sum := range sums {
		if highest > 0 {
			scores[i] = maxScore * sum / highest
		}
	}
	return column{scores, affinityWeight}
}

// combined is the weighted mean of the columns that tell nodes apart, from 0 to 10, rounded half up.
func combined(columns ...column) []int64 {
	var length int
	var heard []column
	var weights int64
	for _, each := range columns {
		length = len(each.scores)
		if lowest, highest := bounds(each.scores); lowest != highest {
			heard = append(heard, each)
			weights += each.weight
		}
	}
	scores := make([]int64, length)
	if weights == 0 {
		return scores
	}
	scale := weights * maxScore / maxPriority
	for i := range scores {
		var sum int64
		for _, each := range heard {
			sum += each.weight * each.scores[i]
		}
		scores[i] = (2*sum + scale) / (2 * scale)
	}
	return scores
}

func bounds(values []int64) (int64, int64) {
	if len(values) == 0 {
		return 0, 0
	}
	return slices.Min(values), slices.Max(values)
}
