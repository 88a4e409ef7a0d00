import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventLine } from "./record-events.ts";
import { splitBatches } from "./record-events.ts";

const few = (prefix: string) => fc.nat(4).map((n) => `${prefix}${n}`);
const lines = fc.array(
  fc.record({ eventId: fc.nat(30).map((n) => `evt_${n}`), userId: few("u"), code: fc.option(few("c")) }).map(
    (drawn): EventLine => ({
      ...drawn,
      event: "rewarded",
      reference: null,
      startParam: null,
      revenue: null,
      occurredAt: null,
      isTest: false,
      rawBody: null,
      signatureHeader: null,
    }),
  ),
  { maxLength: 60 },
);

test("no event, code or user occurs twice in a batch, and none is lost", () => {
  fc.assert(
    fc.property(lines, (drawn) => {
      const batches = splitBatches(drawn);
      for (const batch of batches) {
        const codes = batch.flatMap(({ line }) => line.code ?? []);
        expect(new Set(batch.map(({ line }) => line.userId)).size).toBe(batch.length);
        expect(new Set(codes).size).toBe(codes.length);
      }
      const parted = batches.flat();
      expect(new Set(parted.map(({ line }) => line.eventId))).toEqual(new Set(drawn.map(({ eventId }) => eventId)));
      expect(parted.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(drawn.length);
    }),
  );
});

test("of two lines of one user or code the lower id is recorded first", () => {
  fc.assert(
    fc.property(lines, (drawn) => {
      const parted = splitBatches(drawn).flatMap((batch) => batch.map(({ line }) => line));
      for (const [place, line] of parted.entries()) {
        for (const other of parted.slice(place + 1)) {
          const isRelated = line.userId === other.userId || (line.code !== null && line.code === other.code);
          if (isRelated) expect(line.eventId < other.eventId).toBe(true);
        }
      }
    }),
  );
});
