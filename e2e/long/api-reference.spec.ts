import { expect, test } from "../stack.ts";

test.use({ isMobile: false, hasTouch: false, viewport: { width: 1280, height: 900 } });

test("the API reference shows the server's three APIs, and everything in it comes from the server", async ({
  page,
  stack,
}) => {
  const faults: string[] = [];
  const outside: string[] = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== stack.urls.adService) outside.push(request.url());
  });
  await page.goto(`${stack.urls.adService}/docs`);
  await expect(page.getByRole("heading", { name: "Intermission: client API" })).toBeVisible();
  await page.getByRole("link", { name: "Create code" }).click();
  await expect(page.getByText('"reference": "order-17"').first()).toBeVisible();
  await page.getByRole("button", { name: "Client API" }).click();
  await page.getByRole("option", { name: "Operator API" }).click();
  await expect(page.getByRole("heading", { name: "Intermission: operator API" })).toBeVisible();
  expect({ faults, outside }).toEqual({ faults: [], outside: [] });
});

test("so does that of the companion API", async ({ page, stack }) => {
  await page.goto(`${stack.urls.api}/docs`);
  await expect(page.getByRole("heading", { name: "Intermission: companion API" })).toBeVisible();
  await expect(page.getByRole("link", { name: "rewards.balance" })).toBeVisible();
});
