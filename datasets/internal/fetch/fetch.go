// Package fetch downloads files over https, whole or not at all, and checks them.
package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"nodemask/internal/ended"
	"nodemask/internal/wholefile"
)

const (
	// maxDownload is the largest number of bytes to accept for a file of unknown size.
	maxDownload = 16 << 30
	maxSilence  = time.Minute
	retries     = 4
)

// Options configures downloads; see datasets.FetchOptions.
type Options struct {
	Client   *http.Client
	Progress func(file string, done, total int64)
	Note     func(line string)

	// Only tests set pause and silence.
	pause   time.Duration // wait before the first retry; 0: one second
	silence time.Duration
}

// Source is a file's address, size and checksums, as in datasets.File.
type Source struct {
	URL    string
	Size   int64
	SHA256 string
	Git    string
}

func (s Source) check(sum, git string) error {
	switch {
	case s.SHA256 != "" && s.SHA256 != sum:
		return fmt.Errorf("SHA-256 is %s: expected %s", sum, s.SHA256)
	case s.SHA256 == "" && s.Git != "" && s.Git != git:
		return fmt.Errorf("SHA-256 is %s: expected that of git's object %s", sum, s.Git)
	}
	return nil
}

// Fetcher downloads files.
type Fetcher struct{ o Options }

// New returns a fetcher.
func New(o Options) *Fetcher {
	if o.Client == nil {
		o.Client = defaultClient()
	}
	client := *o.Client
	client.CheckRedirect = onlyHTTPS
	o.Client = &client
	o.pause = cmp.Or(o.pause, time.Second)
	o.silence = cmp.Or(o.silence, maxSilence)
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	return &Fetcher{o}
}

func defaultClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 20 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   20 * time.Second,
		ResponseHeaderTimeout: 60 * time.Second,
		ForceAttemptHTTP2:     true,
	}}
}

var errNotHTTPS = errors.New("refused: expected an address that starts with https://")

func onlyHTTPS(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != "https" {
		return fmt.Errorf("redirect to %s %w", req.URL.Redacted(), errNotHTTPS)
	}
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	return nil
}

// Get downloads a file to path, unless it is there already. It writes to a temporary file, which it renames to path
// once the checksum matches.
func (f *Fetcher) Get(ctx context.Context, path string, source Source) error {
	name := filepath.Base(path)
	if sum, git, err := Sum(ctx, path); err == nil {
		if source.check(sum, git) == nil {
			f.note("%s: already there, SHA-256 %s", name, sum)
			return nil
		}
		f.note("%s: there, but its SHA-256 does not match: fetching it again", name)
	}
	u, err := url.Parse(source.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s: %.200q %w", name, source.URL, errNotHTTPS)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("no folder for data can be made: %w: choose another by NODEMASK_DATA", err)
	}
	for n := 1; ; n++ {
		err := wholefile.Write(path, 0o644, func(w io.Writer) error { return f.download(ctx, w, name, source) })
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: stopped: %w", name, ended.Err(ctx))
		}
		var again transient
		if !errors.As(err, &again) || n > retries {
			return fmt.Errorf("%s: %s: %w", path, source.URL, err)
		}
		pause := f.o.pause << (n - 1)
		f.note("%s: %v: trying again in %v (%d of %d)", name, err, pause, n, retries)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (f *Fetcher) note(format string, args ...any) { f.o.Note(fmt.Sprintf(format, args...)) }

// transient marks an error after which a retry may succeed.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

func (f *Fetcher) download(ctx context.Context, w io.Writer, name string, source Source) (err error) {
	// net/http does not limit how long a server may pause within a body.
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(f.o.silence, func() {
		cancel(transient{fmt.Errorf("the server sent nothing for %v", f.o.silence)})
	})
	defer func() {
		timer.Stop()
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		cancel(nil)
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // sizes must be the file's
	resp, err := f.o.Client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		if errors.Is(err, errNotHTTPS) || errors.As(err, new(*tls.CertificateVerificationError)) {
			return err
		}
		return transient{err}
	}
	defer resp.Body.Close()
	if code := resp.StatusCode; code != http.StatusOK {
		err := fmt.Errorf("the server answered %.80q", resp.Status)
		if code >= 500 || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests {
			return transient{err}
		}
		return err
	}
	total := resp.ContentLength
	if source.Size > 0 && total >= 0 && total != source.Size {
		return fmt.Errorf("the server offers %d bytes: expected %d. It has another file under this name", total, source.Size)
	}
	most := cmp.Or(max(total, source.Size, 0), maxDownload)
	sums, body := newSums(total), io.LimitReader(resp.Body, most+1)
	w = io.MultiWriter(w, sums)
	buffer := make([]byte, 128<<10)
	for done := int64(0); ; {
		n, err := body.Read(buffer)
		if n > 0 {
			timer.Reset(f.o.silence)
		}
		if done += int64(n); done > most {
			return fmt.Errorf("the server sends more than the %d bytes expected", most)
		}
		if _, err := w.Write(buffer[:n]); err != nil {
			return err
		}
		f.o.Progress(name, done, total)
		switch {
		case err == io.EOF:
			sum, git := sums.hex()
			if source.SHA256 == "" && source.Git == "" {
				f.note("%s: %d bytes, SHA-256 %s (none is published to hold it against)", name, done, sum)
			}
			return source.check(sum, git)
		case err != nil:
			return transient{fmt.Errorf("the server stopped after %d of %d bytes (%w)", done, total, err)}
		}
	}
}
