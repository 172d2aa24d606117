import type { Mode } from "./batch.ts";

/**
 * Of every hundred pairs of things that come up in one world of the first 2,500 (500 with liveness), 99 come up in one of
 * these; most of them in the first few. choose.ts has chosen them.
 */
export const chosen: Readonly<Record<Mode, readonly number[]>> = {
  safety: [
    1627, 198, 1991, 876, 2137, 102, 2043, 119, 1806, 2224, 1862, 171, 1541, 1275, 1625, 1364, 1994, 1704,
    234, 2245, 1546, 5, 1411, 2172, 807, 2191, 1982, 550, 373, 1392, 857, 967, 21, 2150, 2182, 1049, 78, 2169,
    1857, 2057, 1395, 991, 88, 1443,
  ],
  liveness: [
    198, 465, 209, 238, 329, 486, 204, 355, 253, 247, 373, 401, 187, 119, 384, 377, 385, 78, 315, 499, 104,
    411, 215, 132, 102, 5, 15, 336, 157, 237, 214, 482, 72, 366,
  ],
};
