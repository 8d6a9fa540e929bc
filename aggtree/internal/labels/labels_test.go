package labels

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestANodeWithoutANameIsCalledByItsNumber(t *testing.T) {
	names := []string{"ann", ""}
	assert.Equal(t, "ann", Of(0, names))
	assert.Equal(t, "1", Of(1, names))
	assert.Equal(t, "2", Of(2, names))
}

func TestWhatDoesNotPrintIsWrittenByItsNumber(t *testing.T) {
	for text, want := range map[string]string{
		"ann b":             "ann b",
		"日本語":               "日本語",
		"line\nbreak":       `line\u000abreak`,
		"\x1b[31m":          `\u001b[31m`,
		"right \u202e left": `right \u202e left`,
		"\xff":              `\ufffd`,
	} {
		assert.Equal(t, want, Printable(text))
	}
}

func TestAnIDBeginsWithALetterAndHasNothingThatStyleSheetsRead(t *testing.T) {
	for text, want := range map[string]string{"a-masked": "a-masked", "5": "t5", `"><script>`: "t___script_", "é": "t_"} {
		assert.Equal(t, want, ID(text))
	}
}
