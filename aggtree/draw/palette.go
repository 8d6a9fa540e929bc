package draw

// palette has the colours of Okabe and Ito, which differ for the colour-blind too, for white and for a dark page: on
// white, some are darker than theirs, on dark blue is lighter, to stand out at 3:1.
var palette = [...]struct{ light, dark string }{
	{"#0072B2", "#4AA3DF"}, // blue
	{"#D55E00", "#E8742A"}, // vermilion
	{"#009E73", "#1DB88C"}, // bluish green
	{"#B9608F", "#CC79A7"}, // reddish purple
	{"#A87400", "#E69F00"}, // orange
	{"#2F8FBF", "#56B4E9"}, // sky blue
	{"#857C00", "#F0E442"}, // yellow
}
