package measure

import "time"

// TimeLeft returns how long the further trials will take if each takes as long as those that ran, rounded to seconds; 0
// if none has run yet.
func TimeLeft(elapsed time.Duration, ran, further int) time.Duration {
	if ran == 0 {
		return 0
	}
	return time.Duration(float64(elapsed) / float64(ran) * float64(further)).Round(time.Second)
}
