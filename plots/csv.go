package plots

import (
	"encoding/csv"
	"strings"
)

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
