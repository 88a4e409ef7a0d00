import type { StatementLanguage } from "@intermission/operator-api/statement-languages";
import type { Database } from "@intermission/postgres/open-database";
import { html, htmlPage, htmlPagePolicy } from "@intermission/server/html-page";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { endSchedule, reportOfToken } from "./report-mails.ts";

/** Mail programs send some 30 bytes, which are ignored. */
const MAX_BODY_BYTES = 4096;

interface PageWords {
  question: string;
  explained: (name: string) => string;
  button: string;
  done: string;
  doneText: (name: string) => string;
  unknown: string;
  unknownText: string;
}

const pageWords: Readonly<Record<StatementLanguage, PageWords>> = {
  en: {
    question: "Get this report no more?",
    explained: (name) => `“${name}” is mailed to you. Other reports and notices stay as they are.`,
    button: "Unsubscribe",
    done: "You get it no more",
    doneText: (name) => `“${name}” is mailed no more. It stays in the console, where it can be mailed again.`,
    unknown: "This link is not valid",
    unknownText:
      "The report was removed, or the link is not complete. Choose in the console which reports are mailed to you.",
  },
  ru: {
    question: "Больше не получать этот отчёт?",
    explained: (name) => `Отчёт «${name}» приходит вам по почте. Другие отчёты и оповещения не изменятся.`,
    button: "Отписаться",
    done: "Вы его больше не получаете",
    doneText: (name) => `Отчёт «${name}» больше не приходит. Он остаётся в консоли, где рассылку можно включить снова.`,
    unknown: "Ссылка недействительна",
    unknownText: "Отчёт удалён, или ссылка неполна. Какие отчёты приходят по почте, выбирается в консоли.",
  },
};

/**
 * `/unsubscribe/{token}`, the link in a mail of a report. Opening it changes nothing, since programs open links, too; its button
 * and mail programs (RFC 8058) post to it.
 */
export function unsubscribeRoutes(
  app: FastifyInstance,
  { database }: { database: Pick<Database, "run" | "transaction"> },
): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string", bodyLimit: MAX_BODY_BYTES }, (_request, _body, done) =>
      done(null),
    );
    type Route = { Params: { token: string } };
    scope.get<Route>("/unsubscribe/:token", async (request, reply) => {
      const report = await reportOfToken(database, request.params.token);
      return send(
        request,
        reply,
        report === undefined ? "unknown" : report.isMailed ? "question" : "done",
        report?.name,
      );
    });
    scope.post<Route>("/unsubscribe/:token", async (request, reply) => {
      const report = await reportOfToken(database, request.params.token);
      if (report === undefined) return send(request, reply, "unknown");
      await endSchedule(database, { savedReportId: report.savedReportId, reason: "unsubscribed" });
      return send(request, reply, "done", report.name);
    });
  });
}

function send(request: FastifyRequest, reply: FastifyReply, page: "question" | "done" | "unknown", name = "") {
  reply.header("content-security-policy", `${htmlPagePolicy}; form-action 'self'`);
  reply.header("cache-control", "no-store");
  reply.header("referrer-policy", "no-referrer");
  reply.header("x-content-type-options", "nosniff");
  reply.header("vary", "accept-language");
  const language = languageOf(request.headers["accept-language"]);
  const words = pageWords[language];
  const cards = {
    question: () =>
      html`<h1>${words.question}</h1>\n<p>${words.explained(name)}</p>\n<form method="post"><button>${words.button}</button></form>`,
    done: () => html`<h1>${words.done}</h1>\n<p>${words.doneText(name)}</p>`,
    unknown: () => html`<h1>${words.unknown}</h1>\n<p>${words.unknownText}</p>`,
  };
  const title = words[page];
  return reply
    .code(page === "unknown" ? 404 : 200)
    .type("text/html; charset=utf-8")
    .send(htmlPage({ language, direction: "ltr", title, card: cards[page]() }));
}

function languageOf(acceptLanguage = ""): StatementLanguage {
  const first = acceptLanguage.split(",").find((one) => /^\s*(en|ru)\b/i.test(one));
  return first?.trim().toLowerCase().startsWith("ru") ? "ru" : "en";
}
