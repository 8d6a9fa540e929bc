package layerwise

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// registerFunctions registers all that runs on workers. What is called for each term of a sum, emitters and sums, is registered with its
// types, so that Beam calls it without reflection. Functions that are called for each node or shard are not: to compile
// register.DoFn7x1 takes gigabytes.
func registerFunctions() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[sendFn](), reflect.TypeFor[termFn](), reflect.TypeFor[askFn](), reflect.TypeFor[scoreFn](), reflect.TypeFor[finishFn](),
		reflect.TypeFor[readNodesFn](), reflect.TypeFor[readEdgesFn](),
		reflect.TypeFor[listNodesFn](), reflect.TypeFor[listEdgesFn](), reflect.TypeFor[graphFn](),
		reflect.TypeFor[termsFn](), reflect.TypeFor[asksFn](), reflect.TypeFor[scoresFn](), reflect.TypeFor[rowsFn](),
		reflect.TypeFor[outputFn](), reflect.TypeFor[resultFn](), reflect.TypeFor[tableFn](),
		reflect.TypeFor[readCacheFn](), reflect.TypeFor[tieFn](), reflect.TypeFor[arriveFn](), reflect.TypeFor[keptFn](),
	} {
		beam.RegisterType(t)
	}
	beam.RegisterFunction(markFn)
	beam.RegisterFunction(endFn)
	beam.RegisterFunction(bothWaysFn)
	register.Combiner1[Term](&sumFn{})

	register.Emitter1[string]()
	register.Emitter2[string, string]()
	register.Emitter2[string, Node]()
	register.Emitter2[string, Message]()
	register.Emitter2[string, Target]()
	register.Emitter2[string, Term]()
	register.Emitter2[string, Ask]()
	register.Emitter2[string, Near]()
	register.Emitter2[string, Kept]()
	register.Emitter2[string, Tie]()
	register.Emitter2[Pair, bool]()
	register.Emitter2[int, Record]()
	register.Emitter2[int, Terms]()
	register.Emitter2[int, Askings]()
	register.Emitter2[int, Records]()
	register.Emitter2[int, Pairs]()
	register.Iter1[bool]()
	register.Iter1[string]()
	register.Iter1[Node]()
	register.Iter1[Message]()
	register.Iter1[Target]()
	register.Iter1[Near]()
	register.Iter1[Ask]()
	register.Iter1[Tie]()
	register.Iter1[Kept]()
	register.Iter1[Record]()
	register.Iter1[Terms]()
	register.Iter1[Askings]()
	register.Iter1[Records]()
	register.Iter1[Pairs]()
}
