package nb

import (
	"fmt"

	"nodemask/internal/checkout"
	"nodemask/internal/worker"
)

// Export writes a model that 'nodemask train --save-model' saved as an ONNX file, for other programs to run, and says
// what it wrote. An empty output is the model's name with .onnx. It ends the cell if there is no such model.
func Export(model, output string) {
	ctx, stop := interruptible()
	defer stop()
	Must(worker.Run(ctx, Must1(checkout.Root()), worker.Request{Export: &worker.Export{Model: model, Output: output}},
		func(e worker.Event) {
			if e.Exported != nil {
				Markdown(fmt.Sprintf("Wrote `%s`", e.Exported))
			}
		}))
}
