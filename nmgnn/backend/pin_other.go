//go:build !linux

package backend

func onOneCore(int) error { return nil }
