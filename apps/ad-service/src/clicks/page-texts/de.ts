import type { LinkPageTexts } from "./link-page-texts.ts";

export const de: LinkPageTexts = {
  go: "Seite öffnen",
  back: "Zurück zu {bot}",
  pages: {
    "tap-needed": {
      title: "Nur noch einmal tippen",
      text: "Tippe auf den Button, um die Seite zu öffnen. Es zählt nur, wenn ein Mensch tippt.",
    },
    "tap-again": {
      title: "Bitte noch einmal tippen",
      text: "Inzwischen hat sich dein Netz geändert, oder die Seite war zu lange offen. Tippe noch einmal, dann öffnet sie sich.",
    },
    machine: {
      title: "Ein Link für eine Person",
      text: "Öffne diesen Link in deinem Browser, um zu sehen, wohin er führt.",
    },
    "unknown-code": {
      title: "Dieser Link führt nirgendwohin",
      text: "Vielleicht ist unterwegs ein Teil verloren gegangen. Kehre zum Bot zurück und öffne den Link von dort.",
    },
    expired: {
      title: "Dieser Link ist abgelaufen",
      text: "Solche Links gelten nur kurz. Hol dir beim Bot einen neuen.",
    },
    used: {
      title: "Dieser Link wurde schon verwendet",
      text: "Er hat einmal gezählt, mehr gibt es hier nicht. Hol dir beim Bot einen neuen.",
    },
    cooldown: {
      title: "Ein wenig zu früh",
      text: "Die letzte Werbung war gerade erst. Dieser Link zählt {when} wieder.",
    },
    "daily-cap": {
      title: "Das war’s für heute",
      text: "Du hast alle Werbung für einen Tag gesehen. Die nächste gibt es {when}.",
    },
    "no-ad": {
      title: "Gerade keine Werbung",
      text: "Im Moment gibt es nichts zu zeigen. Dein Link bleibt gültig: Versuche es etwas später erneut.",
    },
    "address-limit": {
      title: "Heute viele Besuche aus deinem Netz",
      text: "Heute kamen so viele Leute auf diesem Weg, dass wir sie nicht unterscheiden können. Du kannst die Seite öffnen, aber dieser Besuch bringt nichts ein. Dein Link bleibt gültig: Versuche es in einem anderen Netz oder morgen.",
    },
    "too-many-visits": {
      title: "Zu viele Besuche auf einmal",
      text: "Dieser Link wurde sehr oft aus deinem Netz geöffnet. Er bleibt gültig: Öffne ihn {when} noch einmal.",
    },
    unavailable: {
      title: "Bitte versuche es erneut",
      text: "Bei uns ist etwas schiefgelaufen. Dein Link ist nicht verbraucht: Öffne ihn gleich noch einmal.",
    },
  },
};
