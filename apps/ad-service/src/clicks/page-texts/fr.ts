import type { LinkPageTexts } from "./link-page-texts.ts";

export const fr: LinkPageTexts = {
  go: "Ouvrir la page",
  back: "Retour à {bot}",
  pages: {
    "tap-needed": {
      title: "Plus qu’un geste",
      text: "Touchez le bouton pour ouvrir la page. La visite n’est comptée que si une personne le touche.",
    },
    "tap-again": {
      title: "Touchez encore une fois",
      text: "Votre réseau a changé entre-temps, ou la page est restée ouverte trop longtemps. Touchez encore une fois et elle s’ouvrira.",
    },
    machine: {
      title: "Un lien pour une seule personne",
      text: "Ouvrez ce lien dans votre navigateur pour voir où il mène.",
    },
    "unknown-code": {
      title: "Ce lien ne mène nulle part",
      text: "Une partie s’est peut-être perdue en route. Retournez dans la conversation avec le bot et ouvrez le lien depuis là.",
    },
    expired: {
      title: "Ce lien a expiré",
      text: "Les liens de ce type ne durent pas longtemps. Demandez-en un nouveau au bot.",
    },
    used: {
      title: "Ce lien a déjà servi",
      text: "Il a compté une fois, et il n’y a rien de plus à voir. Demandez-en un nouveau au bot.",
    },
    cooldown: {
      title: "Un peu trop tôt",
      text: "La dernière publicité vient de passer. Ce lien comptera de nouveau {when}.",
    },
    "daily-cap": {
      title: "C’est tout pour aujourd’hui",
      text: "Vous avez vu toutes les publicités de la journée. La prochaine arrivera {when}.",
    },
    "no-ad": {
      title: "Pas de publicité pour l’instant",
      text: "Il n’y a rien à afficher en ce moment. Votre lien reste valable : réessayez un peu plus tard.",
    },
    "address-limit": {
      title: "Beaucoup de visites depuis votre réseau aujourd’hui",
      text: "Tant de personnes sont passées par ici aujourd’hui que nous ne pouvons pas les distinguer. Vous pouvez ouvrir la page, mais cette visite ne rapporte rien. Votre lien reste valable : essayez depuis un autre réseau, ou demain.",
    },
    "too-many-visits": {
      title: "Trop de visites à la fois",
      text: "Ce lien a été ouvert très souvent depuis votre réseau. Il reste valable : rouvrez-le {when}.",
    },
    unavailable: {
      title: "Veuillez réessayer",
      text: "Un problème est survenu de notre côté. Votre lien n’est pas perdu : rouvrez-le dans un instant.",
    },
  },
};
