// skein-client: follows the threads of a Skein server.
export { Client } from "./client.js";
export { SkeinError } from "./error.js";
export { Fault, Replica } from "./replica.js";
export { Watch } from "./watch.js";
