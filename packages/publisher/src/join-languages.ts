/** The message to a user who wants to join, where Telegram opens no mini-app by itself. */
export interface JoinTexts {
  /** `{title}` is the channel's. */
  readonly offer: string;
  readonly button: string;
}

// Loaded for the first user of one of these languages.

const joinLanguages = {
  ru: {
    offer: "Вы хотите вступить в «{title}». Посмотрите одну короткую рекламу до конца и закройте её, и вас примут.",
    button: "▶️ Смотреть и вступить",
  },
  uk: {
    offer:
      "Ви хочете приєднатися до «{title}». Перегляньте одну коротку рекламу до кінця й закрийте її, і вас приймуть.",
    button: "▶️ Дивитися й приєднатися",
  },
  es: {
    offer: "Quieres unirte a «{title}». Mira un anuncio corto hasta el final, ciérralo y entrarás.",
    button: "▶️ Mirar y entrar",
  },
  pt: {
    offer: "Você quer entrar em “{title}”. Assista a um anúncio curto até o fim, feche-o e você entra.",
    button: "▶️ Assistir e entrar",
  },
  ar: {
    offer: "تريد الانضمام إلى «{title}». شاهد إعلانًا قصيرًا واحدًا حتى النهاية ثم أغلقه، وستنضم.",
    button: "▶️ شاهد وانضم",
  },
  fa: {
    offer: "می‌خواهید به «{title}» بپیوندید. یک تبلیغ کوتاه را تا پایان ببینید و ببندید تا عضو شوید.",
    button: "▶️ ببینید و بپیوندید",
  },
  hi: {
    offer: "आप “{title}” से जुड़ना चाहते हैं। एक छोटा विज्ञापन अंत तक देखें और बंद करें, फिर आप जुड़ जाएँगे।",
    button: "▶️ देखें और जुड़ें",
  },
  id: {
    offer: "Anda ingin bergabung ke “{title}”. Tonton satu iklan singkat sampai selesai lalu tutup, dan Anda masuk.",
    button: "▶️ Tonton dan bergabung",
  },
  tr: {
    offer:
      "“{title}” sohbetine katılmak istiyorsunuz. Kısa bir reklamı sonuna kadar izleyip kapatın, katılmış olursunuz.",
    button: "▶️ İzle ve katıl",
  },
  uz: {
    offer: "Siz «{title}»ga qoʻshilmoqchisiz. Bitta qisqa reklamani oxirigacha koʻring va yoping, shunda qoʻshilasiz.",
    button: "▶️ Koʻrish va qoʻshilish",
  },
  de: {
    offer:
      "Du möchtest „{title}“ beitreten. Sieh dir eine kurze Werbung bis zum Ende an und schließe sie, dann bist du dabei.",
    button: "▶️ Ansehen und beitreten",
  },
  fr: {
    offer: "Tu veux rejoindre « {title} ». Regarde une courte publicité jusqu’à la fin, ferme-la, et tu y es.",
    button: "▶️ Regarder et rejoindre",
  },
  vi: {
    offer: "Bạn muốn tham gia “{title}”. Xem hết một quảng cáo ngắn rồi đóng lại là bạn được vào.",
    button: "▶️ Xem và tham gia",
  },
  it: {
    offer: "Vuoi entrare in “{title}”. Guarda una breve pubblicità fino alla fine, chiudila e sei dentro.",
    button: "▶️ Guarda ed entra",
  },
} satisfies Record<string, JoinTexts>;

/** `in` is Java's old code for Indonesian, which Android sends. */
export function joinLanguage(language: string): JoinTexts | undefined {
  const known = language === "in" ? "id" : language;
  return Object.hasOwn(joinLanguages, known) ? joinLanguages[known as keyof typeof joinLanguages] : undefined;
}
