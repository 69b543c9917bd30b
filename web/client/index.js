// skein-client: follows the threads of a Skein server.
export { Fault, Replica } from "./replica.js";
