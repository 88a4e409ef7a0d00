import type { LinkPageTexts } from "./link-page-texts.ts";

export const it: LinkPageTexts = {
  go: "Apri la pagina",
  back: "Torna a {bot}",
  pages: {
    "tap-needed": {
      title: "Manca solo un tocco",
      text: "Tocca il pulsante per aprire la pagina. Vale solo se lo tocca una persona.",
    },
    "tap-again": {
      title: "Ancora un tocco",
      text: "Nel frattempo la tua rete è cambiata, o la pagina è rimasta aperta troppo a lungo. Tocca ancora una volta e si aprirà.",
    },
    machine: { title: "Un link per una sola persona", text: "Apri questo link nel browser per vedere dove porta." },
    "unknown-code": {
      title: "Questo link non porta da nessuna parte",
      text: "Forse una parte si è persa per strada. Torna al bot e apri il link da lì.",
    },
    expired: { title: "Questo link è scaduto", text: "I link come questo durano poco. Chiedine uno nuovo al bot." },
    used: {
      title: "Questo link è già stato usato",
      text: "È valso una volta e non c’è altro da vedere. Chiedine uno nuovo al bot.",
    },
    cooldown: {
      title: "Un po’ troppo presto",
      text: "L’ultimo annuncio è appena passato. Questo link varrà di nuovo {when}.",
    },
    "daily-cap": {
      title: "Per oggi è tutto",
      text: "Hai visto tutti gli annunci di un giorno. Il prossimo arriverà {when}.",
    },
    "no-ad": {
      title: "Nessun annuncio al momento",
      text: "Per ora non c’è niente da mostrare. Il tuo link resta valido: riprova un po’ più tardi.",
    },
    "address-limit": {
      title: "Oggi molte visite dalla tua rete",
      text: "Oggi sono passate di qui così tante persone che non riusciamo a distinguerle. Puoi aprire la pagina, ma questa visita non dà nulla. Il tuo link resta valido: riprova da un’altra rete o domani.",
    },
    "too-many-visits": {
      title: "Troppe visite in una volta",
      text: "Questo link è stato aperto molte volte dalla tua rete. Resta valido: riaprilo {when}.",
    },
    unavailable: {
      title: "Riprova",
      text: "Qualcosa è andato storto da parte nostra. Il tuo link non è consumato: riaprilo tra un momento.",
    },
  },
};
