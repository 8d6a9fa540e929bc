// Package racetest provides contenders for tests of races.
package racetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
)

// Contender stands in for another library's program and returns its exit code. The first argument says what it does,
// the second what it calls itself in the log; the others are for it.
func Contender(log string, args []string) int {
	kind, name := args[0], args[1]
	note := func(format string, args ...any) {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			panic(err)
		}
		defer f.Close()
		fmt.Fprintf(f, name+" "+format+"\n", args...)
	}
	note("%s", strings.Join(args[2:], " "))
	switch kind {
	case "refuses":
		fmt.Println(`{"error":"no such library"}`)
		return 1
	case "babbles":
		fmt.Println("Downloading 3 of 7")
	case "dies":
		fmt.Fprintln(os.Stderr, "Traceback:\nImportError: no torch")
		return 1
	case "is-not-ready":
		fmt.Println(`{"version":"1.2"}`)
	case "hangs", "hangs-with-child":
		hang(kind, args)
	}
	fmt.Printf("{\"ready\":true,\"library\":%q,\"version\":\"1.2\",\"first_epoch_s\":0.25}\n", name)
	for questions := bufio.NewScanner(os.Stdin); questions.Scan(); {
		note("%s", questions.Text())
		var what string
		var epochs int
		if _, err := fmt.Sscan(questions.Text(), &what, &epochs); err != nil {
			panic(err)
		}
		switch {
		case kind == "fails-to-validate" && what == "validate":
			fmt.Println(`{"error":"out of memory"}`)
			return 1
		case kind == "answers-nothing":
			epochs = 0
		case kind == "hangs-when-asked":
			hang(kind, args)
		}
		ms := map[string]string{"train": "2", "validate": "3"}[what]
		fmt.Printf("{\"ms\":[%s],\"cpu_ms\":4,\"rss_mb\":77}\n", strings.TrimSuffix(strings.Repeat(ms+",", epochs), ","))
	}
	note("end")
	return 0
}

// hang connects to the test, which sees the connection end when, and only when, this process does.
func hang(kind string, args []string) {
	if kind == "hangs-with-child" {
		child := exec.Command(os.Args[0], "hangs", "child", args[2])
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
	c, err := net.Dial("tcp", args[2])
	if err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, c)
	os.Exit(1) // the test is gone
}
