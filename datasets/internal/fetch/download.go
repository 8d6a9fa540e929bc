package fetch

import (
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"nodemask/internal/ended"
)

// maxDownload limits files of unknown size.
const maxDownload = 16 << 30

// errFinal marks an error not to retry.
type errFinal struct{ error }

func (e errFinal) Unwrap() error { return e.error }

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

func (f *Fetcher) download(ctx context.Context, part, name string, source Source) error {
	u, err := url.Parse(source.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s: %.200q %w", name, source.URL, errNotHTTPS)
	}
	for n := 1; ; n++ {
		err := f.attempt(ctx, part, name, source)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: stopped: %w. What arrived is kept and continued next time", name, ended.Err(ctx))
		}
		var final errFinal
		if errors.As(err, &final) || n > f.o.retries {
			return fmt.Errorf("%s: %s: %w", name, source.URL, err)
		}
		pause := min(time.Second<<min(n-1, 10), 30*time.Second)
		f.note("%s: %v: trying again in %v (%d of %d)", name, err, pause, n, f.o.retries)
		if err := f.o.wait(ctx, pause); err != nil {
			return fmt.Errorf("%s: stopped: %w. What arrived is kept and continued next time", name, err)
		}
	}
}

func (f *Fetcher) attempt(ctx context.Context, part, name string, source Source) (err error) {
	w, err := f.o.open(part)
	if err != nil {
		return errFinal{err}
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	have, err := w.Seek(0, io.SeekEnd)
	if err != nil {
		return errFinal{err}
	}
	validator, err := os.ReadFile(validatorFile(part))
	if err != nil || len(validator) == 0 {
		have = 0
	}
	if source.Size > 0 && have == source.Size {
		return nil // stopped before the renaming
	}
	ctx, heard, stop := watch(ctx, f.o.silence)
	defer stop()
	defer func() {
		if cause := context.Cause(ctx); errors.Is(cause, errSilence) && err != nil {
			err = cause
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source.URL, nil)
	if err != nil {
		return errFinal{err}
	}
	req.Header.Set("Accept-Encoding", "identity") // sizes and ranges must be the file's
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", string(validator))
	}
	resp, err := f.o.Client.Do(req)
	if err != nil {
		var certificate *tls.CertificateVerificationError
		if errors.Is(err, errNotHTTPS) || errors.As(err, &certificate) {
			return errFinal{unwrapURL(err)}
		}
		return unwrapURL(err)
	}
	defer resp.Body.Close()
	total := int64(-1)
	switch resp.StatusCode {
	case http.StatusOK:
		have = 0
		total = resp.ContentLength
	case http.StatusPartialContent:
		if total, err = continues(resp, have); err != nil {
			// Not the requested rest: start anew next time.
			return errors.Join(err, writeValidator(part, ""))
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if resp.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", have) {
			return nil // complete
		}
		return errors.Join(errors.New("the server has no bytes beyond those already here"), writeValidator(part, ""))
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return fmt.Errorf("the server answered %s", resp.Status)
	default:
		err := fmt.Errorf("the server answered %.80q", resp.Status)
		if resp.StatusCode >= 500 {
			return err
		}
		return errFinal{err}
	}
	if source.Size > 0 && total >= 0 && total != source.Size {
		return errFinal{fmt.Errorf("the server offers %d bytes: expected %d. It has another file under this name",
			total, source.Size)}
	}
	if err := enoughRoom(filepath.Dir(part), max(total, source.Size)-have); err != nil {
		return errFinal{err}
	}
	if resp.StatusCode == http.StatusOK {
		if err = w.Truncate(0); err == nil {
			err = writeValidator(part, validatorOf(resp))
		}
		if err != nil {
			return diskError(part, partKept, err)
		}
	}
	if _, err := w.Seek(have, io.SeekStart); err != nil {
		return errFinal{err}
	}
	if err := f.copy(w, resp.Body, heard, part, name, source.Size, have, total); err != nil {
		return err
	}
	if err := w.Sync(); err != nil {
		return diskError(part, partKept, err)
	}
	return nil
}

const maxSilence = time.Minute

var errSilence = errors.New("the server sent nothing")

// watch cancels a request if the server is silent: net/http has no such timeout for bodies.
func watch(ctx context.Context, limit time.Duration) (watched context.Context, heard, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w for %v", errSilence, limit)) })
	return watched, func() { timer.Reset(limit) }, func() { timer.Stop(); cancel(nil) }
}

func (f *Fetcher) copy(w io.Writer, body io.Reader, heard func(), part, name string, size, have, total int64) error {
	limit := total
	if limit < 0 {
		limit = maxDownload
		if size > 0 {
			limit = size
		}
	}
	buf := make([]byte, 128<<10)
	done := have
	f.o.Progress(name, done, total)
	for {
		n, readErr := body.Read(buf)
		if n > 0 {
			heard()
		}
		if done+int64(n) > limit {
			return errFinal{fmt.Errorf("the server sends more than the %d bytes expected", limit)}
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return diskError(part, partKept, err)
		}
		done += int64(n)
		if n > 0 {
			f.o.Progress(name, done, total)
		}
		switch {
		case readErr == nil:
		case errors.Is(readErr, io.EOF):
			if expected := max(total, size); expected > 0 && done != expected {
				return fmt.Errorf("the server stopped after %d of %d bytes", done, expected)
			}
			return nil
		default:
			if total >= 0 {
				return fmt.Errorf("the server stopped after %d of %d bytes (%w)", done, total, readErr)
			}
			return fmt.Errorf("the server stopped after %d bytes (%w)", done, readErr)
		}
	}
}

const partKept = "what arrived is kept"

func diskError(file, kept string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return errFinal{fmt.Errorf("the disk of %s is full: make room and run the same command; %s (%w)",
			filepath.Dir(file), kept, err)}
	}
	return errFinal{err}
}

// continues returns the total size, or -1, of an answer that starts at have.
func continues(resp *http.Response, have int64) (int64, error) {
	text := resp.Header.Get("Content-Range")
	var begin, end int64
	var total string
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%s", &begin, &end, &total); err != nil || begin != have || end < begin {
		return 0, fmt.Errorf("the server answered with the range %.80q: expected one from byte %d", text, have)
	}
	if total == "*" {
		return -1, nil
	}
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil || size <= end {
		return 0, fmt.Errorf("the server answered with the range %.80q", text)
	}
	return size, nil
}

// validatorOf returns the server's version tag; "" if too weak to resume from.
func validatorOf(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" && len(tag) < 1024 {
		if strings.HasPrefix(tag, "W/") {
			return ""
		}
		return tag
	}
	return ""
}

func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
