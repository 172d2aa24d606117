import { expect, test } from "vitest";
import { cardPlace } from "./card-place.ts";

const screen = { width: 360, height: 740 };
const card = { width: 300, height: 200 };

test("a card is under its bar, or above it where there is no room below", () => {
  expect(cardPlace({ x: 180, top: 100, bottom: 132 }, card, screen)).toEqual({ left: 30, top: 140 });
  expect(cardPlace({ x: 180, top: 600, bottom: 632 }, card, screen)).toEqual({ left: 30, top: 392 });
});

test("a card is never cut off", () => {
  for (const x of [0, 100, 360, 5000])
    for (const top of [-50, 0, 300, 739]) {
      const place = cardPlace({ x, top, bottom: top + 32 }, card, screen);
      expect(place.left).toBeGreaterThanOrEqual(8);
      expect(place.left + card.width).toBeLessThanOrEqual(screen.width - 8);
      expect(place.top).toBeGreaterThanOrEqual(8);
      expect(place.top + card.height).toBeLessThanOrEqual(screen.height - 8);
    }
});
