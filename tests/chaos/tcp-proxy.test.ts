import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { TcpProxy } from "./tcp-proxy.ts";
import { monotonic, pause } from "./time.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that says everything back, behind a proxy. */
async function echo() {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      heard.push(data.toString());
      socket.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const proxy = await TcpProxy.open(port);
  closing.push(
    () => server.close(),
    () => proxy.close(),
  );
  return { proxy, port, heard, dropAll };
}

async function call(proxy: TcpProxy) {
  const socket: Socket = connect(proxy.port, "127.0.0.1");
  const replies: string[] = [];
  const errors: (string | undefined)[] = [];
  socket.on("data", (data) => replies.push(data.toString()));
  socket.on("error", (error: NodeJS.ErrnoException) => errors.push(error.code));
  closing.push(() => socket.destroy());
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  await Promise.race([new Promise<void>((resolve) => socket.on("connect", resolve)), closed]);
  return { socket, replies, errors, closed };
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 5 }).toBe(true);
}

test("what is said arrives, and what is answered", async () => {
  const { proxy } = await echo();
  const { socket, replies, closed } = await call(proxy);
  socket.write("hello");
  await until(() => replies.join("") === "hello");
  socket.end();
  await closed;
  await until(() => proxy.connectionCount === 0);
});

test("a cut connection is reset, and another one can be made at once", async () => {
  const { proxy } = await echo();
  const first = await call(proxy);
  const second = await call(proxy);
  await until(() => proxy.connectionCount === 2);
  expect(proxy.cut(([one]) => one)).toBe(1);
  await until(() => first.errors.length === 1);
  expect(first.errors).toEqual(["ECONNRESET"]);
  expect(proxy.cut()).toBe(1);
  await until(() => second.errors.length === 1);
  const third = await call(proxy);
  third.socket.write("again");
  await until(() => third.replies.join("") === "again");
});

test("a connection cut in a reply has delivered a part of it", async () => {
  const { proxy, heard } = await echo();
  const { socket, replies, closed } = await call(proxy);
  await until(() => proxy.cutInNextReplies() === 1);
  socket.write("0123456789");
  await closed;
  expect(replies.join("")).toBe("01234");
  expect(heard.join("")).toBe("0123456789");
});

test("nothing comes after the part of a reply", async () => {
  const { proxy, heard } = await echo();
  const { socket, replies, closed } = await call(proxy);
  await until(() => proxy.cutInNextReplies() === 1);
  socket.write("first");
  await until(() => heard.length === 1);
  socket.write("second");
  await closed;
  expect(replies.join("")).toBe("fir");
});

test("delayed replies come late and in order", async () => {
  const { proxy } = await echo();
  const { socket, replies } = await call(proxy);
  proxy.delay(150);
  const began = monotonic();
  socket.write("late");
  await until(() => replies.join("") === "late");
  expect(monotonic() - began).toBeGreaterThan(140);
});

test("a muted connection stays open, and delivers everything once it is unmuted", async () => {
  const { proxy, heard } = await echo();
  const { socket, replies, errors } = await call(proxy);
  await until(() => proxy.connectionCount === 1);
  proxy.mute("both ways");
  socket.write("kept");
  await pause(100);
  expect([heard, replies, errors]).toEqual([[], [], []]);
  proxy.unmute();
  await until(() => replies.join("") === "kept");
});

test("where only replies are muted, requests take effect", async () => {
  const { proxy, heard } = await echo();
  const { socket, replies } = await call(proxy);
  await until(() => proxy.connectionCount === 1);
  proxy.mute("replies");
  socket.write("done");
  await until(() => heard.join("") === "done");
  await pause(50);
  expect(replies).toEqual([]);
});

test("requests that are lost never arrive, and neither does what follows them on that connection", async () => {
  const { proxy, heard } = await echo();
  const old = await call(proxy);
  await until(() => proxy.connectionCount === 1);
  proxy.lose("requests");
  old.socket.write("lost");
  const fresh = await call(proxy);
  fresh.socket.write("lost too");
  await pause(50);
  proxy.recover();
  old.socket.write("no sense");
  const next = await call(proxy);
  next.socket.write("heard");
  await until(() => next.replies.join("") === "heard");
  expect([heard.join(""), old.errors, fresh.errors]).toEqual(["heard", [], []]);
});

test("where only replies are lost, requests take effect; who was not lost in between goes on", async () => {
  const { proxy, heard } = await echo();
  const speaker = await call(proxy);
  const silent = await call(proxy);
  await until(() => proxy.connectionCount === 2);
  proxy.lose("replies");
  speaker.socket.write("done");
  await until(() => heard.join("") === "done");
  await pause(50);
  proxy.recover();
  silent.socket.write("more");
  await until(() => silent.replies.join("") === "more");
  expect(speaker.replies).toEqual([]);
});

test("the end of a connection arrives when nothing is lost any more", async () => {
  const { proxy } = await echo();
  const { socket, closed } = await call(proxy);
  await until(() => proxy.connectionCount === 1);
  proxy.lose("requests");
  socket.end("lost");
  await pause(50);
  expect(proxy.connectionCount).toBe(1);
  proxy.recover();
  await closed;
  await until(() => proxy.connectionCount === 0);
});

test("a proxy that leads elsewhere breaks what is there and connects to the other server", async () => {
  const first = await echo();
  const second = await echo();
  const { errors } = await call(first.proxy);
  await until(() => first.proxy.connectionCount === 1);
  first.proxy.leadTo(second.port);
  await until(() => errors.length === 1);
  const { socket, replies } = await call(first.proxy);
  socket.write("hello");
  await until(() => replies.join("") === "hello");
  expect([first.heard, second.heard]).toEqual([[], ["hello"]]);
});

test("a proxy that refuses is not there, until it accepts again on the same port", async () => {
  const { proxy } = await echo();
  await call(proxy);
  await proxy.refuse();
  const refused = await call(proxy);
  expect(refused.errors).toEqual(["ECONNREFUSED"]);
  await proxy.accept();
  const { socket, replies } = await call(proxy);
  socket.write("back");
  await until(() => replies.join("") === "back");
});

test("refusing ends connections whose other side is gone already", async () => {
  const { proxy, dropAll } = await echo();
  const { closed } = await call(proxy);
  await until(() => proxy.connectionCount === 1);
  proxy.mute("both ways");
  dropAll();
  await pause(50);
  await proxy.refuse();
  await closed;
  expect(proxy.connectionCount).toBe(0);
});
