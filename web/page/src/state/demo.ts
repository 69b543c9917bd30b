// A thread to try things on: it is named so, and only in one that is does the page
// say or undo anything by itself.

const named = /^demo-[a-z0-9]{6,}$/;

export const isDemo = (id: string): boolean => named.test(id);
