import type { WireStatus } from "../../wire/index.ts";
import { writeValue } from "./instance-facts.ts";
import type { Output } from "./output.ts";
import { painted } from "./paint.ts";
import { statusStyle } from "./status.ts";
import { errorText } from "./value.ts";

/** How an instance ended; true when it is complete. */
export function writeEnding({ status, output, error }: WireStatus, out: Output): boolean {
  const text = error === undefined ? "" : `: ${errorText(error)}`;
  out.line("It is ", painted(statusStyle(status), status), text, error === undefined ? "." : "");
  if (status === "complete") writeValue("Output", output, out);
  return status === "complete";
}
