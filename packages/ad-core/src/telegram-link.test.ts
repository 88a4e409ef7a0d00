import { expect, test } from "vitest";
import { telegramLink } from "./telegram-link.ts";

test.each([
  ["https://t.me/durov", "https://t.me/durov"],
  ["http://T.ME/durov?start=a", "https://t.me/durov?start=a"],
  ["https://t.me/quiz_bot/play?startapp=x-1#top", "https://t.me/quiz_bot/play?startapp=x-1"],
  ["https://t.me/+AbC_d", "https://t.me/+AbC_d"],
  ["https://t.me/joinchat/AbC", "https://t.me/joinchat/AbC"],
  ["https://t.me/c/123/45", "https://t.me/c/123/45"],
  ["https://telegram.me/durov", "https://t.me/durov"],
  ["https://telegram.dog/durov", "https://t.me/durov"],
  ["https://www.t.me/durov", "https://t.me/durov"],
  ["https://durov.t.me/", "https://t.me/durov"],
  ["https://quiz_bot.t.me/play?startapp=x", "https://t.me/quiz_bot/play?startapp=x"],
  ["tg://resolve?domain=durov", "https://t.me/durov"],
  ["tg:resolve?domain=durov", "https://t.me/durov"],
  ["TG://Resolve/?domain=quiz_bot&start={click_id}", "https://t.me/quiz_bot?start={click_id}"],
  [
    "tg://resolve?domain=quiz_bot&appname=play&startapp=%5BCLICKID%5D",
    "https://t.me/quiz_bot/play?startapp=%5BCLICKID%5D",
  ],
  ["tg://resolve?domain=quiz_bot&startgroup", "https://t.me/quiz_bot?startgroup"],
  ["tg://resolve?domain=news&post=7&single", "https://t.me/news/7?single"],
  ["tg://resolve?phone=123456", "https://t.me/+123456"],
  ["tg://join?invite=AbC_d", "https://t.me/+AbC_d"],
  ["tg://privatepost?channel=12&post=3", "https://t.me/c/12/3"],
  ["tg://addlist?slug=abc", "https://t.me/addlist/abc"],
  ["tg://msg_url?url=https%3A%2F%2Fa.test&text=b", "https://t.me/share/url?url=https%3A%2F%2Fa.test&text=b"],
])("%s opens inside Telegram, as %s", (address, link) => expect(telegramLink(address)).toBe(link));

test.each([
  "https://example.com/",
  "https://t.me/",
  "https://web.t.me/k",
  "https://t.me.example.com/durov",
  "https://example.com/?u=https://t.me/durov",
  "https://not-t.me/durov",
  "https://a.b.t.me/durov",
  "https://t.me:8443/durov",
  "ftp://t.me/durov",
  "tg://settings",
  "tg://resolve",
  "tg://resolve?domain=a/b",
  "tg://join?invite=..%2Fx",
  "tg://__proto__?slug=a",
  "javascript:alert(1)",
  "",
])("%j is left to a browser", (address) => expect(telegramLink(address)).toBeUndefined());
