// Servers in containers, where a Docker daemon answers.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { say } from "../toolchain.mjs";
import { keep } from "./guard.mjs";
import { freePort, loopback } from "./ports.mjs";
import { execute } from "./processes.mjs";

const readyMs = 90_000;

/** Why Docker cannot be used; undefined if it can. */
export async function whyNoDocker() {
  try {
    await execute("docker", ["version", "--format", "{{.Server.Version}}"], { timeoutMs: 5000 });
    return undefined;
  } catch {
    return "no Docker daemon answers";
  }
}

export async function startContainer(kind, { durable }) {
  const { image, isReady, url = kind.url } = kind.docker;
  const container = `everstep-${kind.name}-${randomUUID()}`;
  const port = await freePort();
  const argv = ["run", `--name=${container}`, ...runOptions(kind, port, durable)];
  argv.push(image, ...kind.docker.argv(durable));

  say(`${kind.title}: starting a container of ${image}, which may have to be pulled first ...`);
  keep({ container });
  await execute("docker", argv, { timeoutMs: 900_000 });
  const endMs = Date.now() + readyMs;
  while (!(await isReady(port))) {
    if (Date.now() > endMs)
      throw new Error(`the container of ${image} did not answer in ${readyMs / 1000} s`);
    await delay(100);
  }
  return { kind: kind.name, url: url(port), port, image, container, argv };
}

function runOptions(kind, port, durable) {
  const { environment, data, port: inside } = kind.docker;
  return [
    "--detach",
    "--rm",
    `--publish=${loopback}:${port}:${inside}`,
    ...Object.entries(environment).map(([name, value]) => `--env=${name}=${value}`),
    ...(durable ? [] : [`--tmpfs=${data}`]),
  ];
}
