import { Secret, TOTP } from "otpauth";
import { openMailServer } from "../../apps/ad-service/test/fixtures/mail-server.ts";
import { analyze } from "../axe.ts";
import { test as base, expect } from "../console.ts";

type Mails = Awaited<ReturnType<typeof openMailServer>>;

/** With a mail server, which other flows do not have. */
const test = base.extend<object, { mails: Mails }>({
  mails: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
    async ({}, use) => {
      const server = await openMailServer();
      await use(server);
      await server.close();
    },
    { scope: "worker" },
  ],
  adServiceEnv: [
    async ({ mails }, use) => {
      await use({ SMTP_URL: mails.url, SMTP_FROM: "ads@demo.example" });
    },
    { scope: "worker" },
  ],
});
test.describe.configure({ mode: "serial" });

const password = "correct horse battery";
const english = {
  accept: "Set password and sign in",
  newPassword: "New password",
  code: "Code",
  change: "Change the address",
  newEmail: "New e-mail address",
  password: "Present password",
  wrong: "Is wrong, or the code is not the one that the authenticator app shows now.",
  waiting: "becomes your address once you open the link",
  confirm: "Confirm the address",
  confirmed: "You sign in with",
  keep: "Keep the address",
  kept: "Your account has the address",
};
const russian: typeof english = {
  accept: "Задать пароль и войти",
  newPassword: "Новый пароль",
  code: "Код",
  change: "Сменить адрес",
  newEmail: "Новый адрес",
  password: "Нынешний пароль",
  wrong: "Пароль неверен, или приложение-аутентификатор показывает сейчас другой код.",
  waiting: "Вашим станет адрес",
  confirm: "Подтвердить адрес",
  confirmed: "Теперь вы входите с адресом",
  keep: "Оставить адрес",
  kept: "Адрес вашей учётной записи",
};

for (const { name, width, locale, scheme, words } of [
  { name: "desk", width: 1280, locale: "en-US", scheme: "light", words: english },
  { name: "phone, in Russian", width: 360, locale: "ru-RU", scheme: "dark", words: russian },
] as const) {
  test.describe(`in the window of a ${name}`, () => {
    // The password is mistyped once.
    test.use({ window: { width, height: 800 }, locale, colorScheme: scheme, refusal: 400 });
    test("the own address is changed by a mailed link, and taken back by the one to the former address", async ({
      desk,
      stack,
      mails,
    }) => {
      const looked = async (picture: string) => {
        expect((await analyze(desk)).violations).toEqual([]);
        expect(await desk.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await desk.screenshot({ path: test.info().outputPath(`${picture}.png`), fullPage: true });
      };
      const email = `ann-${width}@demo.example`;
      const moved = `ann-${width}@moved.example`;
      const { link } = JSON.parse(await stack.ads(["people", "add", email, "--role", "analyst", "--json"]));
      // A sign-in ends the session that the browser has: that of the worker's owner, whose screen asks no more.
      await desk.goto("about:blank");
      await desk.context().clearCookies();
      await desk.goto(link);
      const key = await desk.locator(".totp code").textContent();
      const secret = Secret.fromBase32((key ?? "").replaceAll(" ", ""));
      const code = (steps: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });
      await desk.getByLabel(words.newPassword).fill(password);
      await desk.getByLabel(words.code, { exact: true }).fill(code(-1));
      await desk.getByRole("button", { name: words.accept }).click();
      await desk.locator("#content h1").waitFor();

      await desk.goto(new URL("/console/account", desk.url()).href);
      await desk.getByRole("button", { name: words.change }).click();
      await desk.getByLabel(words.newEmail).fill(moved);
      await desk.getByLabel(words.password).fill("mistyped");
      await desk.getByLabel(words.code, { exact: true }).fill(code(0));
      const submit = desk.getByRole("dialog").getByRole("button", { name: words.change });
      await submit.click();
      await expect(desk.getByText(words.wrong)).toBeVisible();
      await looked("dialog");
      await desk.getByLabel(words.password).fill(password);
      await desk.getByLabel(words.code, { exact: true }).fill(code(0));
      await submit.click();
      await expect(desk.getByRole("status").filter({ hasText: words.waiting })).toContainText(moved);
      await looked("waiting");

      const linkTo = (address: string) => {
        const text = mails.received.findLast(({ to }) => to.includes(address))?.text ?? "";
        return /http\S+\/console\/email#[\w-]+/.exec(text)?.[0] ?? "";
      };
      const undo = linkTo(email);
      await desk.goto(linkTo(moved));
      await desk.getByRole("button", { name: words.confirm }).waitFor();
      await looked("confirm");
      await desk.getByRole("button", { name: words.confirm }).click();
      await expect(desk.getByRole("status").filter({ hasText: words.confirmed })).toContainText(moved);
      await looked("confirmed");

      await desk.goto("about:blank");
      await desk.goto(undo);
      await desk.getByRole("button", { name: words.keep }).click();
      await expect(desk.getByRole("status").filter({ hasText: words.kept })).toContainText(email);
      await looked("kept");
    });
  });
}
