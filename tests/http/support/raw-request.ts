/** Requests as no client would write them: bytes on a socket. */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends the text and reads until the other side is done: it closes, or has sent what it announced. */
export function sendRaw(url: string, text: string | Uint8Array): Promise<RawAnswer> {
  return converse(url, (socket) => socket.write(text));
}

export function converse(url: string, speak: (socket: Socket) => void): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let heard = "";
    const done = (): void => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(heard)?.[1] ?? 0), text: heard });
    };
    socket.on("connect", () => speak(socket));
    socket.on("data", (data) => {
      heard += data.toString("latin1");
      if (isWhole(heard)) done();
    });
    socket.on("close", done);
    socket.on("error", (problem) => (heard === "" ? reject(problem) : done()));
  });
}

function isWhole(heard: string): boolean {
  const end = heard.indexOf("\r\n\r\n");
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(heard.slice(0, end + 2)) ?? [];
  return end >= 0 && length !== undefined && heard.length >= end + 4 + Number(length);
}
