package draw

import "nodemask/plots"

// palette has the colours of all drawings of this project, for light and for dark pages.
var palette = plots.Palette()
