import type { LinkPageTexts } from "./link-page-texts.ts";

export const pt: LinkPageTexts = {
  go: "Abrir a página",
  back: "Voltar para {bot}",
  pages: {
    "tap-needed": {
      title: "Falta só um toque",
      text: "Toque no botão para abrir a página. Só conta se uma pessoa tocar.",
    },
    "tap-again": {
      title: "Mais um toque",
      text: "Nesse meio-tempo sua rede mudou, ou a página ficou aberta tempo demais. Toque mais uma vez para abri-la.",
    },
    machine: { title: "Um link para uma só pessoa", text: "Abra este link no navegador para ver aonde ele leva." },
    "unknown-code": {
      title: "Este link não leva a lugar nenhum",
      text: "Talvez uma parte dele tenha se perdido. Volte ao bot e abra o link por lá.",
    },
    expired: { title: "Este link expirou", text: "Links como este duram pouco. Peça um novo ao bot." },
    used: {
      title: "Este link já foi usado",
      text: "Ele já contou uma vez e não há mais nada para ver. Peça um novo ao bot.",
    },
    cooldown: { title: "Um pouco cedo", text: "O último anúncio foi agora há pouco. Este link volta a contar {when}." },
    "daily-cap": { title: "Por hoje é só", text: "Você já viu todos os anúncios de um dia. O próximo chega {when}." },
    "no-ad": {
      title: "Nenhum anúncio agora",
      text: "Não há nada para mostrar no momento. Seu link continua válido: tente um pouco mais tarde.",
    },
    "address-limit": {
      title: "Muitas visitas da sua rede hoje",
      text: "Tantas pessoas vieram por aqui hoje que não conseguimos distingui-las. A página está aberta para você, mas esta visita não rende nada. Seu link continua válido: tente em outra rede ou amanhã.",
    },
    "too-many-visits": {
      title: "Visitas demais ao mesmo tempo",
      text: "Este link foi aberto muitas vezes na sua rede. Ele continua válido: abra-o novamente {when}.",
    },
    unavailable: {
      title: "Tente novamente",
      text: "Algo deu errado do nosso lado. Seu link não foi gasto: abra-o novamente daqui a pouco.",
    },
  },
};
