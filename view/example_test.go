package view_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/skeinhq/skein/view"
)

// A replica takes what a watch sends, and keeps what was fetched besides.
func ExampleReplica() {
	batches := []string{
		`{"n":1,"ops":[["r",{"thread":{"id":"launch","title":"Launch","epoch":"e1"},"entries":[
			{"seq":7,"id":"a","prev":5,"index":2},{"seq":8,"id":"b","prev":7,"index":3}],
			"from":7,"before":5,"earlier":true,"length":4,"docs":{"live":null}}]]}`,
		`{"n":2,"ops":[["s",["docs","live"],{"id":"c","text":"The old"}]]}`,
		`{"n":3,"ops":[["a",["docs","live","text"],7," harbour hall."]]}`,
		`{"n":4,"ops":[["p",["entries"],2,0,[{"seq":9,"id":"c","prev":8,"index":4}]],["s",["length"],5],["s",["docs","live"],null]]}`,
		`{"n":6,"ops":[]}`,
	}
	var r view.Replica
	for _, data := range batches {
		var b view.Batch
		if err := json.Unmarshal([]byte(data), &b); err != nil {
			log.Fatal(err)
		}
		if err := r.Applied(b); err != nil {
			from, epoch := r.Resume()
			fmt.Printf("%v: watch again from %d of %s\n", err, from, epoch)
			break
		}
		v := r.View()
		fmt.Print(len(v.Entries), " messages")
		if v.Docs.Live != nil {
			fmt.Printf(", %q", v.Docs.Live.Text)
		}
		fmt.Println()
	}
	err := r.Fetched(view.Page{Epoch: "e1", Items: []view.Entry{{Seq: 5, ID: "y", Prev: 2, Index: 1}, {Seq: 2, ID: "x"}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Ranges()), "range,", len(r.Ranges()[0].Entries), "messages,", len(r.Holes()), "holes, earlier:", r.Earlier())

	// Output:
	// 2 messages
	// 2 messages, "The old"
	// 2 messages, "The old harbour hall."
	// 3 messages
	// batch 6 does not follow batch 4: watch again from 10 of e1
	// 1 range, 5 messages, 0 holes, earlier: 0
}
