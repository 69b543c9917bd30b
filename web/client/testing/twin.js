// A replica that is told over its standard input what happens, one JSON a line, and
// answers what it then holds: so that it can be held against the one in Go.

import { createInterface } from "node:readline";
import { Fault, Replica } from "../index.js";

let replica = new Replica();

const steps = {
  begin: () => void (replica = new Replica()),
  apply: (batch) => replica.apply(batch),
  page: (page) => replica.fetched(page),
  resume: () => replica.resume(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [[step, what]] = Object.entries(JSON.parse(line));
  const answer = {};
  try {
    Object.assign(answer, steps[step](what));
  } catch (err) {
    if (!(err instanceof Fault)) throw err;
    answer.fault = err.code;
  }
  const { view, ranges, holes, earlier } = replica;
  answer.view = view;
  answer.ranges = ranges.map((r) => r.entries.map((e) => e.seq));
  answer.holes = holes.map((h) => ({ After: h.after, Before: h.before }));
  answer.earlier = earlier;
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
