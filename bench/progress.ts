/** What is going on, on the standard error: lines, and on a terminal a last one that counts. */

export interface Progress {
  note(what: string): void;
  count(done: number, of: number): void;
}

export function progressOn(out: NodeJS.WriteStream): Progress {
  let noted = "";
  let tenths = 0;
  let isCounting = false;
  return {
    note(what) {
      out.write(`${isCounting ? "\n" : ""}${what}\n`);
      noted = what;
      tenths = 0;
      isCounting = false;
    },
    count(done, of) {
      const text = `${noted}: ${done.toLocaleString("en")} of ${of.toLocaleString("en")}`;
      if (out.isTTY) {
        out.write(`\r${text}`);
        isCounting = true;
      } else if (Math.floor((done / of) * 10) > tenths) {
        tenths = Math.floor((done / of) * 10);
        out.write(`${text}\n`);
      }
    },
  };
}
