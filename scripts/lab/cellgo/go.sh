#!/bin/sh
# Stands in for the go command in a notebook's kernel. It leaves out the line "# gonb_45aaa29b" above the compiler's
# errors: gonb's name for the package that it makes of a cell, which says nothing to anybody. And it lists packages as
# they are without cgo: for each kernel gopls, which completes names, would otherwise have the C of package fused
# compiled, half a minute of a processor, and go on when the kernel has ended. All else is the go command's own.
#
# It is set up as LAB/bin/go, before the go command in PATH.
real=
IFS=:
for folder in $PATH; do
    [ -z "$real" ] && [ -f "$folder/go" ] && [ -x "$folder/go" ] && ! [ "$folder/go" -ef "$0" ] && real=$folder/go
done
unset IFS
[ -n "$real" ] || { echo "cellgo: no go command in PATH: install Go and run 'make setup-lab'" >&2; exit 1; }
case ${1:-} in
list) export CGO_ENABLED=0; exec "$real" "$@" ;;
build | test | run) ;;
*) exec "$real" "$@" ;;
esac
# The exit code is go's, not sed's.
exec 3>&1
code=$({ { "$real" "$@" 2>&1 >&3 3>&- 4>&-; echo $? >&4; } | sed '/^# gonb_[0-9a-f]*$/d' >&2; } 4>&1)
exit "$code"
