import { refusalBody } from "@intermission/ad-core/webhook-refusal";
import { expect, test } from "vitest";
import { adviceText } from "../src/bots/delivery-texts.ts";
import { explainDelivery } from "../src/bots/explain-delivery.ts";
import { resultText } from "../src/bots/result-text.ts";

const answer = (status: number | null, errorClass: string | null = null, text: string | null = null) => ({
  status,
  errorClass,
  text,
});

test("why a webhook is not delivered is said in the reader's language", () => {
  const facts = {
    state: "failed",
    isTest: false,
    blockedReason: null,
    endReason: "attempts-used-up",
    notBefore: null,
    dueAt: null,
    resumeState: null,
  } as const;
  const time = (at: Date) => at.toISOString().slice(11, 16);
  const [notBefore, dueAt] = [new Date("2026-03-01T12:30:00Z"), new Date("2026-03-01T12:20:00Z")];
  expect(explainDelivery("en", facts, time)).toBe("No attempt was answered 2xx: fix the receiver, then send it again.");
  expect(explainDelivery("ru", facts, time)).toBe(
    "Ни на одну попытку не ответили 2xx: исправьте получателя и отправьте снова.",
  );
  const waiting = { ...facts, state: "waiting", endReason: null, dueAt } as const;
  expect(explainDelivery("ru", waiting, time)).toBe("Следующая попытка: 12:20.");
  expect(explainDelivery("ru", { ...waiting, notBefore }, time)).toContain("до 12:30");
  expect(explainDelivery("ru", { ...waiting, blockedReason: "no-token" }, time)).toContain("API-токена");
  expect(explainDelivery("en", { ...facts, state: "unknown" }, time)).toContain("unknown whether it arrived");
});

test("what to check after a failed attempt is said in the reader's language, also for answers of other versions", () => {
  for (const language of ["en", "ru"] as const) {
    expect(adviceText(language, answer(204))).toBeUndefined();
    for (const failed of [answer(404), answer(418), answer(599), answer(null, "dns"), answer(null, "later-version")])
      expect(adviceText(language, failed)).toMatch(language === "ru" ? /[а-я]/ : /^[A-Z][^а-я]+\.$/);
  }
  const refused = JSON.stringify(refusalBody({ fault: "stale", seconds: 90 }));
  expect(adviceText("ru", answer(401, null, refused))).toContain("90 с назад");
  expect(adviceText("ru", answer(401, null, "no"))).toContain("API-токен");
  expect(resultText("ru", { status: null, errorClass: "refused" })).toBe("в соединении отказано");
  expect(resultText("ru", { status: 500, errorClass: null })).toBe("500");
});
