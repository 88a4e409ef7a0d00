import { type PageLanguage, pageLanguage, pageLanguages } from "@intermission/server/page-language";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Paths that programs call. A person may open any other path. */
const apis = /^\/+(client|player|operator|postback|media|metrics|healthz|readyz)(\/|$)/;

/**
 * Answers an unknown address with a page, but only in a person's browser. Doubled slashes, as in `//app/7`, come from a
 * configured address with one slash too many; they are redirected to the mini-app.
 */
export function errorPage(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply | undefined {
  const [path = "", ...query] = request.url.split("?");
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead || apis.test(path)) return undefined;
  const single = path.replace(/\/{2,}/g, "/");
  const isMiniapp = /^\/app(\/|$)/.test(single);
  if (!isMiniapp && !request.headers.accept?.includes("text/html")) return undefined;
  if (isMiniapp && single !== path) return redirect(reply, [single, ...query].join("?"));
  return sendFriendlyPage(request, reply, status, "unknown-address");
}

/** Never cached: what is at an address may change. */
export function redirect(reply: FastifyReply, address: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(address, 302);
}

export function sendFriendlyPage(request: FastifyRequest, reply: FastifyReply, status: number, page: FriendlyPage) {
  setPageHeaders(reply, "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'");
  if (status === 503) reply.header("retry-after", "60");
  reply.header("vary", "accept-language");
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .send(friendlyPage(page, request.headers["accept-language"]));
}

export function setPageHeaders(reply: FastifyReply, policy: string): void {
  reply.header("content-security-policy", policy);
  reply.header("cache-control", "no-cache");
  reply.header("referrer-policy", "no-referrer");
  reply.header("x-content-type-options", "nosniff");
}

/** For the operator of the service. */
const hints: Partial<Record<FriendlyPage, string>> = {
  "no-bot": "/app/&lt;bot id&gt;",
  "not-built": "npm run build",
};

/** A complete HTML page without scripts, in the browser's most preferred language among ours. */
export function friendlyPage(page: FriendlyPage, acceptLanguage: string | undefined): string {
  const language = pageLanguage(acceptLanguage);
  const { title, text } = friendlyPageTexts[language][page];
  const hint = hints[page];
  return `<!doctype html>
<html lang="${language}" dir="${pageLanguages[language]}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<main style="max-width:32rem;margin:20vh auto 0;padding:0 1.5rem;font:1.0625rem/1.5 system-ui,sans-serif">
<h1 style="font-size:1.5rem">${title}</h1>
<p>${text}</p>${hint ? `\n<p><code>${hint}</code></p>` : ""}
</main>
</html>
`;
}

export type FriendlyPage = "unknown-address" | "no-bot" | "unknown-bot" | "not-built" | "unavailable";

export const friendlyPageTexts: Record<PageLanguage, Record<FriendlyPage, { title: string; text: string }>> = {
  en: {
    "unknown-address": {
      title: "There is nothing here",
      text: "Go back to the bot’s chat and open the app from there.",
    },
    "no-bot": {
      title: "This address names no bot",
      text: "Go back to the bot’s chat and open the app from there. The bot’s owner: end the address with the bot’s id.",
    },
    "unknown-bot": {
      title: "Nothing is shown here",
      text: "This address belongs to no bot. Go back to the bot’s chat and open the app from there.",
    },
    "not-built": { title: "The app is not ready yet", text: "Please come back in a few minutes." },
    unavailable: { title: "The app cannot be opened now", text: "Please try again in a minute." },
  },
  ru: {
    "unknown-address": { title: "Здесь ничего нет", text: "Вернитесь в чат с ботом и откройте приложение оттуда." },
    "no-bot": {
      title: "В этом адресе не указан бот",
      text: "Вернитесь в чат с ботом и откройте приложение оттуда. Владельцу бота: допишите в конец адреса id бота.",
    },
    "unknown-bot": {
      title: "Здесь ничего не показывают",
      text: "Этот адрес не принадлежит ни одному боту. Вернитесь в чат с ботом и откройте приложение оттуда.",
    },
    "not-built": { title: "Приложение ещё не готово", text: "Загляните через несколько минут." },
    unavailable: { title: "Приложение сейчас не открывается", text: "Попробуйте ещё раз через минуту." },
  },
  uk: {
    "unknown-address": {
      title: "Тут нічого немає",
      text: "Поверніться до чату з ботом і відкрийте застосунок звідти.",
    },
    "no-bot": {
      title: "У цій адресі не вказано бота",
      text: "Поверніться до чату з ботом і відкрийте застосунок звідти. Власнику бота: допишіть у кінець адреси id бота.",
    },
    "unknown-bot": {
      title: "Тут нічого не показують",
      text: "Ця адреса не належить жодному боту. Поверніться до чату з ботом і відкрийте застосунок звідти.",
    },
    "not-built": { title: "Застосунок ще не готовий", text: "Зазирніть за кілька хвилин." },
    unavailable: { title: "Застосунок зараз не відкривається", text: "Спробуйте ще раз за хвилину." },
  },
  es: {
    "unknown-address": { title: "Aquí no hay nada", text: "Vuelve al chat del bot y abre la aplicación desde allí." },
    "no-bot": {
      title: "Esta dirección no indica ningún bot",
      text: "Vuelve al chat del bot y abre la aplicación desde allí. Para el dueño del bot: termina la dirección con el id del bot.",
    },
    "unknown-bot": {
      title: "Aquí no se muestra nada",
      text: "Esta dirección no pertenece a ningún bot. Vuelve al chat del bot y abre la aplicación desde allí.",
    },
    "not-built": { title: "La aplicación aún no está lista", text: "Vuelve dentro de unos minutos." },
    unavailable: { title: "La aplicación no se puede abrir ahora", text: "Inténtalo de nuevo en un minuto." },
  },
  pt: {
    "unknown-address": { title: "Não há nada aqui", text: "Volte ao chat do bot e abra o aplicativo por lá." },
    "no-bot": {
      title: "Este endereço não indica nenhum bot",
      text: "Volte ao chat do bot e abra o aplicativo por lá. Para o dono do bot: termine o endereço com o id do bot.",
    },
    "unknown-bot": {
      title: "Nada é exibido aqui",
      text: "Este endereço não pertence a nenhum bot. Volte ao chat do bot e abra o aplicativo por lá.",
    },
    "not-built": { title: "O aplicativo ainda não está pronto", text: "Volte em alguns minutos." },
    unavailable: { title: "O aplicativo não pode ser aberto agora", text: "Tente de novo em um minuto." },
  },
  ar: {
    "unknown-address": { title: "لا يوجد شيء هنا", text: "ارجع إلى محادثة البوت وافتح التطبيق من هناك." },
    "no-bot": {
      title: "هذا العنوان لا يذكر أي بوت",
      text: "ارجع إلى محادثة البوت وافتح التطبيق من هناك. لمالك البوت: أضف معرّف البوت إلى نهاية العنوان.",
    },
    "unknown-bot": {
      title: "لا يُعرض شيء هنا",
      text: "هذا العنوان لا يخص أي بوت. ارجع إلى محادثة البوت وافتح التطبيق من هناك.",
    },
    "not-built": { title: "التطبيق ليس جاهزًا بعد", text: "يُرجى العودة بعد بضع دقائق." },
    unavailable: { title: "لا يمكن فتح التطبيق الآن", text: "حاول مرة أخرى بعد دقيقة." },
  },
  fa: {
    "unknown-address": { title: "اینجا چیزی نیست", text: "به گفتگوی ربات برگردید و برنامه را از آنجا باز کنید." },
    "no-bot": {
      title: "این نشانی نام رباتی ندارد",
      text: "به گفتگوی ربات برگردید و برنامه را از آنجا باز کنید. صاحب ربات: شناسهٔ ربات را به پایان نشانی بیفزایید.",
    },
    "unknown-bot": {
      title: "اینجا چیزی نمایش داده نمی‌شود",
      text: "این نشانی مال هیچ رباتی نیست. به گفتگوی ربات برگردید و برنامه را از آنجا باز کنید.",
    },
    "not-built": { title: "برنامه هنوز آماده نیست", text: "لطفاً چند دقیقهٔ دیگر سر بزنید." },
    unavailable: { title: "برنامه الان باز نمی‌شود", text: "لطفاً یک دقیقهٔ دیگر دوباره تلاش کنید." },
  },
  hi: {
    "unknown-address": { title: "यहाँ कुछ नहीं है", text: "बॉट की चैट पर लौटें और ऐप वहाँ से खोलें।" },
    "no-bot": {
      title: "इस पते में कोई बॉट नहीं है",
      text: "बॉट की चैट पर लौटें और ऐप वहाँ से खोलें। बॉट के मालिक: पते के अंत में बॉट की id जोड़ें।",
    },
    "unknown-bot": {
      title: "यहाँ कुछ नहीं दिखाया जाता",
      text: "यह पता किसी बॉट का नहीं है। बॉट की चैट पर लौटें और ऐप वहाँ से खोलें।",
    },
    "not-built": { title: "ऐप अभी तैयार नहीं है", text: "कृपया कुछ मिनट बाद आएँ।" },
    unavailable: { title: "ऐप अभी नहीं खुल सकता", text: "कृपया एक मिनट बाद फिर कोशिश करें।" },
  },
  id: {
    "unknown-address": { title: "Tidak ada apa-apa di sini", text: "Kembali ke chat bot dan buka aplikasi dari sana." },
    "no-bot": {
      title: "Alamat ini tidak menyebut bot",
      text: "Kembali ke chat bot dan buka aplikasi dari sana. Untuk pemilik bot: akhiri alamat dengan id bot.",
    },
    "unknown-bot": {
      title: "Tidak ada yang ditampilkan di sini",
      text: "Alamat ini bukan milik bot mana pun. Kembali ke chat bot dan buka aplikasi dari sana.",
    },
    "not-built": { title: "Aplikasi belum siap", text: "Silakan kembali beberapa menit lagi." },
    unavailable: { title: "Aplikasi belum bisa dibuka", text: "Silakan coba lagi dalam satu menit." },
  },
  tr: {
    "unknown-address": { title: "Burada bir şey yok", text: "Bot sohbetine dönün ve uygulamayı oradan açın." },
    "no-bot": {
      title: "Bu adreste bir bot belirtilmemiş",
      text: "Bot sohbetine dönün ve uygulamayı oradan açın. Botun sahibi: adresin sonuna botun kimliğini (id) ekleyin.",
    },
    "unknown-bot": {
      title: "Burada bir şey gösterilmiyor",
      text: "Bu adres hiçbir bota ait değil. Bot sohbetine dönün ve uygulamayı oradan açın.",
    },
    "not-built": { title: "Uygulama henüz hazır değil", text: "Lütfen birkaç dakika sonra yeniden gelin." },
    unavailable: { title: "Uygulama şu anda açılamıyor", text: "Lütfen bir dakika sonra yeniden deneyin." },
  },
};
