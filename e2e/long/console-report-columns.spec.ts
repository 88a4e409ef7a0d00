import { analyze } from "../axe.ts";
import { test } from "../console.ts";
import { expect } from "../console-stack.ts";

// A stack with sample traffic: large amounts, long names, and rows of many countries.
test.use({ adServiceEnv: { LOG_LEVEL: "warn" } });
test.describe.configure({ mode: "serial" });
test.setTimeout(300_000);

for (const { locale, view, all } of [
  { locale: "en-US", view: "View", all: /^(?!Lines above)/ },
  { locale: "ru-RU", view: "Вид", all: /^(?!Строки над)/ },
]) {
  for (const width of [1440, 1024, 360]) {
    test.describe(`${width} pixels wide, ${locale}`, () => {
      test.use({ window: { width, height: 900 }, locale });

      test("no figure of a report is out of sight, however many columns are chosen", async ({ desk, stack }) => {
        await stack.addSample();
        for (const { report, tableFrom } of [
          { report: "range=28-days", tableFrom: 1024 },
          // Two objects and changes need more room: in a smaller window each row is a card.
          { report: "by=campaign&also=country&compare=previous&range=28-days", tableFrom: 1440 },
        ]) {
          await desk.goto(new URL(`/console/reports?${report}`, desk.url()).href);
          await desk.locator("tfoot").waitFor();
          await expectInSight();
          if (width >= tableFrom) await expect(desk.locator(".report-frame[data-cards]")).toHaveCount(0);
          await desk.screenshot({ path: shot(`${report.slice(0, 4)}-usual`), fullPage: true });
          await desk.getByRole("button", { name: view }).click();
          // The menu is loaded when it is opened.
          await desk.getByRole("checkbox", { name: all }).first().waitFor();
          for (const box of await desk.getByRole("checkbox", { name: all }).all()) await box.check();
          await desk.keyboard.press("Escape");
          await expect(desk.locator("tfoot td")).toHaveCount(28);
          await expectInSight();
          await desk.screenshot({ path: shot(`${report.slice(0, 4)}-all`), fullPage: true });
          await desk.evaluate(() => localStorage.removeItem("console-report"));
        }
        expect((await analyze(desk)).violations).toEqual([]);
        await desk.goto(new URL("/console/reports?figure=funnel&range=28-days", desk.url()).href);
        await desk.locator(".funnel li").first().waitFor();
        await expectInSight();
        await desk.screenshot({ path: shot("funnel"), fullPage: true });

        function shot(name: string): string {
          return test.info().outputPath(`${name}.png`);
        }
        async function expectInSight(): Promise<void> {
          const beyond = () =>
            desk.evaluate(() => {
              const frame = document.querySelector(".report-frame") ?? document.body;
              return [document.documentElement.scrollWidth - innerWidth, frame.scrollWidth - frame.clientWidth];
            });
          await expect.poll(beyond).toEqual([0, 0]);
        }
      });
    });
  }
}
