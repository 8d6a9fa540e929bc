package report

// CitedFolder is where the trajectories of the second protocol are, in a folder of results.
const CitedFolder = "cited"
