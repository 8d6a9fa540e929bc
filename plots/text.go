package plots

import (
	"encoding/csv"
	"fmt"
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

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func (t Table) csv() string {
	records := [][]string{t.Header}
	for _, row := range t.Rows {
		record := make([]string, len(row))
		for i, c := range row {
			record[i] = c.Text
		}
		records = append(records, record)
	}
	return writeCSV(records)
}

func writeCSV(records [][]string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, record := range records {
		clean := make([]string, len(record))
		for i, s := range record {
			clean[i] = newlines.Replace(s)
		}
		if len(clean) == 1 && clean[0] == "" {
			w.Flush()
			b.WriteString("\"\"\n") // readers skip an empty line
			continue
		}
		_ = w.Write(clean)
	}
	w.Flush()
	return b.String()
}

var markdownEscapes = strings.NewReplacer(append(escapes(`\`, "\\`*_{}[]<>|~$&"), "://", `\://`, "www.", `www\.`)...)

func markdownParagraph(s string) string {
	s = markdownEscapes.Replace(s)
	rest := strings.TrimLeft(s, "0123456789")
	digits := len(s) - len(rest)
	marks := "#+-"
	if digits > 0 {
		marks = ".)"
	}
	if rest != "" && strings.Contains(marks, rest[:1]) {
		return s[:digits] + `\` + rest
	}
	return s
}

func (t Table) markdown() string {
	var b strings.Builder
	line := func(fields []Field) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(inMarkup(fields, markdownEscapes, "**", "**"), " | "))
	}
	if title := svg.Plain(t.Title); title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdownEscapes.Replace(title))
	}
	line(Fields(t.Header...))
	labels, numbers := t.labels(), len(t.Header)-t.labels()
	b.WriteString(strings.Repeat("| :--- ", labels) + strings.Repeat("| ---: ", numbers) + "|\n")
	for _, row := range t.lines() {
		line(row)
	}
	if caption := svg.Plain(t.Caption); caption != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownParagraph(caption))
	}
	return b.String()
}
