package draw

// palette has the colours of Okabe and Ito, which the colour-blind can tell apart too, for light and for dark pages. To
// stand out at 3:1, some are darker than theirs on light pages, and blue is lighter on dark ones.
var palette = [...]struct{ light, dark string }{
	{"#0072B2", "#4AA3DF"}, // blue
	{"#D55E00", "#E8742A"}, // vermilion
	{"#009E73", "#1DB88C"}, // bluish green
	{"#B9608F", "#CC79A7"}, // reddish purple
	{"#A87400", "#E69F00"}, // orange
	{"#2F8FBF", "#56B4E9"}, // sky blue
	{"#857C00", "#F0E442"}, // yellow
}
