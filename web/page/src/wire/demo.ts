import { theClient } from "../api/api.ts";

/** Makes a demonstration thread with a few messages. Its answers are an echo: no model is paid. */
export async function makeDemo(): Promise<string> {
  const id = `demo-${Math.random().toString(36).slice(2, 8).padEnd(6, "0")}${Date.now().toString(36)}`;
  await theClient().create({ id, title: "Demonstration", settings: { model: "echo" } });
  for (const n of [1, 2, 3]) await sayIn(id, n, false);
  return id;
}

const texts = ["the lamp on the pier is lit.", "two boats came in before the rain.", "the baker asks for the key.", "somebody left a red bicycle.", "the tide turns at six.", "tomorrow the market is closed."];

/** Says the n-th thing in a demonstration, and has it answered or not. */
export async function sayIn(id: string, n: number, answered: boolean): Promise<void> {
  await theClient().say(id, { text: `Entry ${n}: ${texts[n % texts.length]}`, ...(!answered && { reply: false }) });
}
