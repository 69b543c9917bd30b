import { register } from "./views.ts";

// Which views there are, in the order of their tabs: one call of register for each.

register({ title: "Prompt", route: "prompt", of: "thread", tag: "sk-prompt", key: "p", needs: "admin", load: () => import("./prompt/prompt.ts") });
register({ title: "Outline", route: "outline", of: "thread", tag: "sk-outline", key: "o", load: () => import("./outline/outline.ts") });
register({ title: "Wire", route: "wire", of: "thread", tag: "sk-wire", key: "w", load: () => import("./wire/wire.ts") });
register({ title: "Find", route: "find", of: "thread", tag: "sk-find", key: "f", load: () => import("./search/search.ts") });
register({ title: "Search all threads", route: "search", of: "all", tag: "sk-search", key: "s", load: () => import("./search/search.ts") });
