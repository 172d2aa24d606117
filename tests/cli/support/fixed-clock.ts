/** Preloaded into the command's process, so that "5 min ago" says the same every time. */
const now = Number(process.env.TEST_NOW);
if (Number.isFinite(now) && now > 0) Date.now = () => now;
