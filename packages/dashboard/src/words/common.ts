/** What the command line says too, in the same words. */
export * from "../../../everstep/src/words/index.ts";
