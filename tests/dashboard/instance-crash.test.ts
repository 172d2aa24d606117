import { expect, test } from "vitest";
import { Project } from "../dev/command-line.ts";
import { axe, describeBrowser, shot } from "../support/browser.ts";

const workflow = `
import { appendFileSync } from "node:fs";
import { defineWorkflow } from "everstep";
const note = (what: string) => appendFileSync("ledger.txt", what + "\\n");
export const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("reserve", async () => note("reserve"));
  await step.do("charge", async ({ attempt }) => {
    note("charge " + attempt);
    if (attempt === 1) await new Promise(() => {});
  });
  await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" });
  return step.do("ship", async () => note("ship"));
});`;

// What a browser says of a server that is not there at the moment.
const mayComplain = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED/];

describeBrowser("an instance in a process that is killed", ({ openPage }) => {
  test("goes on in the next one before the reader's eyes, and nothing that was completed runs again", async () => {
    const project = new Project({ "workflows.ts": workflow }).install();
    const dev = await project.dev();
    await dev.client.workflow("order").create({ id: "survivor" });
    const page = await openPage({ mayComplain });
    await page.goto(new URL(`dashboard/instances/order/survivor#token=${dev.note.token}`, dev.note.url).href);
    await page.locator(".why", { hasText: "charge is running for" }).waitFor();
    const killed = dev.hostPid;
    const killing = page.getByRole("button", { name: "Kill the process now" });
    await page.getByText("See it survive: kill the process that runs this.").waitFor();
    await shot(page, "instance-crash-before");
    await killing.click();
    await page.getByText("The process was killed. Waiting for the next one …").waitFor();
    await page.getByText("reconnecting").waitFor();
    await shot(page, "instance-crash-killed");
    await page
      .getByText(
        'It goes on in a new process. 1 step had completed before the kill; it did not run again. "charge" was cut off and began again (start 2).',
      )
      .waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    expect(dev.hostPid).not.toBe(killed);
    await page.locator(".why", { hasText: "waits for event approved" }).waitFor();
    expect(await axe(page)).toEqual([]);
    // The mark of the crash is seen whole, before the bar that begins there, once the line has come to rest.
    const isOnTop = (): Promise<boolean> =>
      page.locator(".tl-line .tl-cut").evaluate((mark) => {
        mark.scrollIntoView({ block: "center" });
        const { left, right, top, height } = mark.getBoundingClientRect();
        const at = (x: number) => mark.ownerDocument.elementFromPoint(x, top + height / 2);
        return [left + 3, right - 3].every((x) => mark.contains(at(x)));
      });
    await expect.poll(isOnTop, { timeout: 10_000 }).toBe(true);
    await shot(page, "instance-crash-after");

    // And once more while it waits: then there is nothing to be cut off.
    await killing.click();
    await page
      .getByText(
        "It goes on in a new process. 2 steps had completed before the kill; none of them ran again.",
      )
      .waitFor();
    await page.getByRole("link", { name: "Send event" }).click();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("It went on in a new process").waitFor();
    expect(project.lines("ledger.txt")).toEqual(["reserve", "charge 1", "charge 2", "ship"]);
    expect(await killing.count()).toBe(0);
  });
});
