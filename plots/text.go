package plots

import (
	"slices"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"nodemask/internal/svg"
)

func (t Table) text() string {
	w := table.NewWriter()
	style := table.StyleRounded
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	w.SetStyle(style)
	var columns []table.ColumnConfig
	for i := t.labels(); i < len(t.Header); i++ {
		columns = append(columns, table.ColumnConfig{Number: i + 1,
			Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	w.SetColumnConfigs(columns)
	line := func(fields []Field) table.Row {
		row := make(table.Row, len(fields))
		for i, f := range fields {
			s := f.marked()
			if f.Bold && !f.Down {
				s += "*"
			}
			row[i] = s
		}
		return row
	}
	w.AppendHeader(line(Fields(t.Header...)))
	for i, fields := range t.Rows {
		if t.ruled(i) {
			w.AppendSeparator()
		}
		w.AppendRow(line(fields))
	}
	if t.Footer != nil {
		w.AppendFooter(line(t.Footer))
	}
	// Stars replace bold here.
	caption := strings.Replace(svg.Plain(t.Caption), "Bold: ", "*: ", 1)
	parts := slices.DeleteFunc([]string{svg.Plain(t.Title), isolated(w.Render()), caption}, func(s string) bool { return s == "" })
	return strings.Join(parts, "\n") + "\n"
}

// isolated keeps right-to-left text from reversing its neighbours in a row.
func isolated(table string) string {
	cells := strings.Split(table, "│")
	for i, cell := range cells {
		if strings.ContainsFunc(cell, func(r rune) bool {
			return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan,
				unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya)
		}) {
			text := strings.TrimSpace(cell)
			cells[i] = strings.Replace(cell, text, "\u2068"+text+"\u2069", 1)
		}
	}
	return strings.Join(cells, "│")
}
