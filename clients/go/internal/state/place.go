// Package state is what a device keeps of one way of reporting over time and one user, so that nothing is drawn twice.
package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Place is where a device keeps a text.
type Place interface {
	// Read returns the text; not found where nothing was written yet.
	Read() (text string, found bool, err error)
	// Write puts a text in its place, whole or not at all, and on disk when it returns.
	Write(text string) error
}

// FilePlace is the path of a file of its owner alone.
type FilePlace string

// Read returns the file's text.
func (p FilePlace) Read() (text string, found bool, err error) {
	made, err := os.ReadFile(string(p))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(made), err == nil, err
}

// Write replaces the file. One beside it that a crash left, or that is another's, gives way.
func (p FilePlace) Write(text string) error {
	beside := string(p) + ".new"
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(beside, string(p))
	}
	if err == nil {
		err = kept(filepath.Dir(string(p)))
	}
	return err
}

// kept makes a new name outlive a crash, too; Windows synchronises no folders.
func kept(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer opened.Close()
	return opened.Sync()
}
