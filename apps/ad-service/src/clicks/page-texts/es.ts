import type { LinkPageTexts } from "./link-page-texts.ts";

export const es: LinkPageTexts = {
  go: "Abrir la página",
  back: "Volver a {bot}",
  pages: {
    "tap-needed": {
      title: "Falta un solo toque",
      text: "Toca el botón para abrir la página. Solo cuenta si lo toca una persona.",
    },
    "tap-again": {
      title: "Un toque más",
      text: "Mientras tanto cambió tu red, o la página estuvo abierta demasiado tiempo. Toca otra vez y se abrirá.",
    },
    machine: {
      title: "Un enlace para una sola persona",
      text: "Abre este enlace en tu navegador para ver adónde lleva.",
    },
    "unknown-code": {
      title: "Este enlace no lleva a ninguna parte",
      text: "Quizá se perdió una parte por el camino. Vuelve al bot y abre el enlace desde allí.",
    },
    expired: { title: "Este enlace caducó", text: "Los enlaces como este duran poco. Pídele uno nuevo al bot." },
    used: {
      title: "Este enlace ya se usó",
      text: "Ya contó una vez y no hay nada más que ver. Pídele uno nuevo al bot.",
    },
    cooldown: {
      title: "Un poco pronto",
      text: "El último anuncio fue hace un momento. Este enlace volverá a contar {when}.",
    },
    "daily-cap": {
      title: "Eso es todo por hoy",
      text: "Ya viste todos los anuncios de un día. El próximo llegará {when}.",
    },
    "no-ad": {
      title: "Ahora no hay anuncios",
      text: "Por el momento no hay nada que mostrar. Tu enlace sigue siendo válido: inténtalo un poco más tarde.",
    },
    "address-limit": {
      title: "Muchas visitas desde tu red hoy",
      text: "Hoy llegaron tantas personas por esta vía que no podemos distinguirlas. Puedes abrir la página, pero esta visita no da nada. Tu enlace sigue siendo válido: inténtalo desde otra red o mañana.",
    },
    "too-many-visits": {
      title: "Demasiadas visitas a la vez",
      text: "Este enlace se abrió muchas veces desde tu red. Sigue siendo válido: ábrelo de nuevo {when}.",
    },
    unavailable: {
      title: "Inténtalo de nuevo",
      text: "Algo falló por nuestra parte. Tu enlace no se ha gastado: ábrelo de nuevo en un momento.",
    },
  },
};
