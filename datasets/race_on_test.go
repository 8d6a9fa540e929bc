//go:build race

package datasets

// raceDetector says whether the race detector is on, which multiplies memory.
const raceDetector = true
