package plots

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

func (t Table) text() string {
	w := table.NewWriter()
	style := table.StyleRounded
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	w.SetStyle(style)
	header := make(table.Row, len(t.Header))
	var columns []table.ColumnConfig
	for i, name := range t.Header {
		header[i] = Plain(name)
		if !t.isText(i) {
			columns = append(columns, table.ColumnConfig{Number: i + 1,
				Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
		}
	}
	w.AppendHeader(header)
	w.SetColumnConfigs(columns)
	line := func(cells []Field) table.Row {
		row := make(table.Row, len(cells))
		for i, c := range cells {
			s := c.marked()
			if c.Bold && !c.Down {
				s += "*"
			}
			row[i] = s
		}
		return row
	}
	for i, cells := range t.Rows {
		if t.ruled(i) {
			w.AppendSeparator()
		}
		w.AppendRow(line(cells))
	}
	if t.Footer != nil {
		w.AppendFooter(line(t.Footer))
	}
	var b strings.Builder
	// What a caption says of bold numbers it says of those with a star here.
	caption := strings.Replace(Plain(t.Caption), "Bold: ", "*: ", 1)
	for _, part := range []string{Plain(t.Title), w.Render(), caption} {
		if part != "" {
			b.WriteString(part + "\n")
		}
	}
	return b.String()
}
