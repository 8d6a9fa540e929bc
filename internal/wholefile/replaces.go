package wholefile

import (
	"os"
	"path/filepath"
	"strings"
)

// Replaces returns the first file that writing path would replace, even through links, or "". Devices and pipes are
// never replaced.
func Replaces(path string, files ...string) string {
	there, err := os.Stat(path)
	if err != nil || !there.Mode().IsRegular() {
		return ""
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && os.SameFile(info, there) {
			return file
		}
	}
	return ""
}

// Same reports whether two outputs would be one file. If neither exists, names that differ only in case count as one,
// as on some disks.
func Same(a, b string) bool {
	if Replaces(a, b) != "" {
		return true
	}
	x, err := os.Stat(filepath.Dir(a))
	if err != nil {
		return false
	}
	y, err := os.Stat(filepath.Dir(b))
	return err == nil && os.SameFile(x, y) && strings.EqualFold(filepath.Base(a), filepath.Base(b))
}
