package kernels

// InBlocks has products drop so many numbers at a time.
func InBlocks(d Dropped, numbers int) Dropped {
	d.block = numbers
	return d
}
