package plots

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"nodemask/internal/svg"
)

func (t Table) text() string {
	w := table.NewWriter()
	style := table.StyleRounded
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	var columns []table.ColumnConfig
	for i := t.labels(); i < len(t.Header); i++ {
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
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
	caption := strings.Replace(svg.Plain(t.Caption), "Bold: ", "*: ", 1)
	parts := slices.DeleteFunc([]string{svg.Plain(t.Title), w.Render(), caption}, func(s string) bool { return s == "" })
	return strings.Join(parts, "\n") + "\n"
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func (t Table) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	line := func(fields []Field) {
		record := make([]string, len(fields))
		for i, f := range fields {
			record[i] = newlines.Replace(f.Text)
		}
		_ = w.Write(record)
	}
	line(Fields(t.Header...))
	for _, row := range t.Rows {
		line(row)
	}
	w.Flush()
	return b.String()
}

var markdownMarks = regexp.MustCompile("[\\\\`*_{}\\[\\]<>|~$&]|://|www\\.")

func markdownText(s string) string {
	return markdownMarks.ReplaceAllStringFunc(s, func(mark string) string {
		if mark == "www." {
			return `www\.`
		}
		return `\` + mark
	})
}

func markdownParagraph(s string) string {
	s = markdownText(s)
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
		texts := make([]string, len(fields))
		for i, f := range fields {
			if texts[i] = markdownText(f.marked()); f.Bold && texts[i] != "" {
				texts[i] = "**" + texts[i] + "**"
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(texts, " | "))
	}
	if title := svg.Plain(t.Title); title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdownText(title))
	}
	line(Fields(t.Header...))
	labels, numbers := t.labels(), len(t.Header)-t.labels()
	b.WriteString(strings.Repeat("| :--- ", labels) + strings.Repeat("| ---: ", numbers) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	if caption := svg.Plain(t.Caption); caption != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownParagraph(caption))
	}
	return b.String()
}
