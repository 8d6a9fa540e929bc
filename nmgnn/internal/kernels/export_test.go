package kernels

// InBlocks returns d with another block size.
func InBlocks(d Dropped, numbers int) Dropped {
	d.block = numbers
	return d
}
