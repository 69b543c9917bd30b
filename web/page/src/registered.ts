// Which views there are, in the order of their tabs: one call of register for each,
// such as
//
//   register({ title: "Prompt", route: "prompt", of: "thread", tag: "sk-prompt", key: "p",
//     load: () => import("./prompt/prompt.ts") });
export {};
