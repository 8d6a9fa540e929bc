package measure

import "time"

// TimeLeft estimates the time of further trials, in whole seconds; 0 if ran is 0.
func TimeLeft(elapsed time.Duration, ran, further int) time.Duration {
	if ran == 0 {
		return 0
	}
	return time.Duration(float64(elapsed) / float64(ran) * float64(further)).Round(time.Second)
}
