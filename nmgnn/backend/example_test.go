package backend_test

import (
	"fmt"

	"nodemask/nmgnn/backend"
)

func ExampleOpen() {
	b, err := backend.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Finalize()
	fmt.Println(b.ID, backend.IDs())
	// Output: go [xla:cuda xla:cpu go]
}
