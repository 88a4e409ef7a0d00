const en = {
  subtitle: "bot · simulated chat",
  placeholder: "Message",
  send: "Send",
  facts: "What happened",
  balance: "Balance in the ledger",
  hint: "Each reward arrives as a signed webhook. Here they are, byte for byte, with what the ledger made of them.",
  webhooks: "Webhooks",
  none: "No webhook yet. Watch an ad, or follow its link.",
  unreachable: "The companion API does not answer right now. Trying again…",
  verified: "Signature verified",
  reconciled: "Fetched from the event feed",
  booked: "paid",
  refused: "booked as zero",
  unmatched: "kept, not booked",
  closePhone: "Close the mini-app",
  backPhone: "Back",
  leave: "Close the mini-app? What you did in it may be lost.",
  frame: "Mini-app",
  you: "You",
};

/** @type {typeof en} */
const ru = {
  subtitle: "бот · имитация чата",
  placeholder: "Сообщение",
  send: "Отправить",
  facts: "Что произошло",
  balance: "Баланс в журнале",
  hint: "Каждая награда приходит подписанным вебхуком. Вот они, байт в байт, и что из них стало.",
  webhooks: "Вебхуки",
  none: "Вебхуков пока нет. Посмотрите рекламу или перейдите по ссылке.",
  unreachable: "API издателя сейчас не отвечает. Пробуем ещё раз…",
  verified: "Подпись верна",
  reconciled: "Получено из ленты событий",
  booked: "оплачено",
  refused: "записано как ноль",
  unmatched: "сохранено, не записано",
  closePhone: "Закрыть мини-приложение",
  backPhone: "Назад",
  leave: "Закрыть мини-приложение? Сделанное в нём может пропасть.",
  frame: "Мини-приложение",
  you: "Вы",
};

const parameters = new URLSearchParams(location.search);
export const language = parameters.get("lang") ?? navigator.language;
export const words = language.toLowerCase().startsWith("ru") ? ru : en;

/** One simulated user a browser; `?user=` names one, so that two windows can be two devices of the same user. */
export function userId() {
  const named = parameters.get("user");
  if (named !== null && /^[1-9][0-9]{0,14}$/.test(named)) return named;
  const kept = localStorage.getItem("user");
  if (kept !== null) return kept;
  const [random] = crypto.getRandomValues(new Uint32Array(1));
  const fresh = String(1_000_000_000 + random);
  localStorage.setItem("user", fresh);
  return fresh;
}
