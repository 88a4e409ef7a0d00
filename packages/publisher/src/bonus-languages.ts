// Loaded for the first user of one of these languages: a bot whose users speak English loads none of them.

/** Without functions, as a translator writes them. `laterAt` contains `{time}`, a time of day in UTC. */
export interface BuiltInTexts {
  readonly offer: string;
  readonly button: string;
  readonly later: string;
  readonly laterAt: string;
  readonly failed: string;
  readonly anonymous: string;
}

/** The texts of `/bonus` in the languages of the mini-app other than English. */
const bonusLanguages = {
  ru: {
    offer: "Посмотрите короткую рекламу до конца и закройте её, чтобы получить бонус.",
    button: "🎁 Смотреть и получить",
    later: "Сейчас рекламы нет.",
    laterAt: "Следующая реклама будет доступна в {time} UTC.",
    failed: "Что-то пошло не так на нашей стороне. Попробуйте ещё раз через минуту.",
    anonymous:
      "Вы пишете от имени группы или канала, поэтому непонятно, кому дать бонус. Отправьте команду мне в личный чат или отключите анонимность и напишите от своего имени.",
  },
  uk: {
    offer: "Перегляньте коротку рекламу до кінця й закрийте її, щоб отримати бонус.",
    button: "🎁 Дивитися й отримати",
    later: "Зараз реклами немає.",
    laterAt: "Наступна реклама буде доступна о {time} UTC.",
    failed: "Щось пішло не так на нашому боці. Спробуйте ще раз за хвилину.",
    anonymous:
      "Ви пишете від імені групи або каналу, тому незрозуміло, кому дати бонус. Надішліть команду мені в особистий чат або вимкніть анонімність і напишіть від свого імені.",
  },
  es: {
    offer: "Mira un anuncio corto hasta el final y ciérralo para recibir tu bono.",
    button: "🎁 Mirar y ganar",
    later: "Ahora no hay anuncios.",
    laterAt: "El próximo anuncio estará disponible a las {time} UTC.",
    failed: "Algo ha fallado por nuestra parte. Inténtalo de nuevo en un minuto.",
    anonymous:
      "Escribes en nombre de un grupo o canal, así que no sé quién recibe el bono. Envíame el comando en privado, o desactiva el anonimato y escribe como tú.",
  },
  pt: {
    offer: "Assista a um anúncio curto até o fim e feche-o para receber seu bônus.",
    button: "🎁 Assistir e ganhar",
    later: "Não há anúncios agora.",
    laterAt: "O próximo anúncio estará disponível às {time} UTC.",
    failed: "Algo deu errado do nosso lado. Tente de novo em um minuto.",
    anonymous:
      "Você escreve em nome de um grupo ou canal, então não sei quem recebe o bônus. Envie-me o comando no privado, ou desative o anonimato e escreva como você mesmo.",
  },
  ar: {
    offer: "شاهد إعلانًا قصيرًا حتى النهاية ثم أغلقه لتحصل على مكافأتك.",
    button: "🎁 شاهد واربح",
    later: "لا إعلانات الآن.",
    laterAt: "يتوفر الإعلان التالي في الساعة {time} بتوقيت UTC.",
    failed: "حدث خطأ من جهتنا. حاول مرة أخرى بعد دقيقة.",
    anonymous:
      "أنت تكتب باسم مجموعة أو قناة، فلا أعرف من يحصل على المكافأة. أرسل لي الأمر في محادثة خاصة، أو أوقف إخفاء الهوية واكتب باسمك.",
  },
  fa: {
    offer: "یک تبلیغ کوتاه را تا پایان ببینید و آن را ببندید تا پاداشتان را بگیرید.",
    button: "🎁 ببینید و بگیرید",
    later: "اکنون تبلیغی نیست.",
    laterAt: "تبلیغ بعدی ساعت {time} به وقت UTC در دسترس است.",
    failed: "از سوی ما مشکلی پیش آمد. یک دقیقهٔ دیگر دوباره امتحان کنید.",
    anonymous:
      "شما به نام گروه یا کانال می‌نویسید و معلوم نیست پاداش به چه کسی می‌رسد. فرمان را در گفتگوی خصوصی برایم بفرستید، یا ناشناس بودن را خاموش کنید و به نام خودتان بنویسید.",
  },
  hi: {
    offer: "अपना बोनस पाने के लिए एक छोटा विज्ञापन अंत तक देखें और उसे बंद करें।",
    button: "🎁 देखें और पाएँ",
    later: "अभी कोई विज्ञापन नहीं है।",
    laterAt: "अगला विज्ञापन {time} UTC पर उपलब्ध होगा।",
    failed: "हमारी ओर से कुछ गड़बड़ हुई। एक मिनट बाद फिर कोशिश करें।",
    anonymous:
      "आप किसी ग्रुप या चैनल के नाम से लिख रहे हैं, इसलिए पता नहीं चलता कि बोनस किसे मिले। मुझे यह कमांड निजी चैट में भेजें, या गुमनाम रहना बंद करके अपने नाम से लिखें।",
  },
  id: {
    offer: "Tonton iklan singkat sampai selesai, lalu tutup untuk mendapatkan bonusmu.",
    button: "🎁 Tonton dan dapatkan",
    later: "Belum ada iklan sekarang.",
    laterAt: "Iklan berikutnya tersedia pukul {time} UTC.",
    failed: "Ada masalah di pihak kami. Coba lagi sebentar lagi.",
    anonymous:
      "Kamu menulis atas nama grup atau channel, jadi tidak jelas siapa yang mendapat bonus. Kirim perintah ini lewat chat pribadi, atau matikan anonimitas dan tulis atas namamu sendiri.",
  },
  tr: {
    offer: "Bonusunu almak için kısa bir reklamı sonuna kadar izle ve kapat.",
    button: "🎁 İzle ve kazan",
    later: "Şu anda reklam yok.",
    laterAt: "Sonraki reklam saat {time} UTC'de hazır olacak.",
    failed: "Bizim tarafımızda bir sorun oldu. Bir dakika sonra tekrar dene.",
    anonymous:
      "Bir grup veya kanal adına yazıyorsun, bu yüzden bonusu kimin alacağı belli değil. Komutu bana özelden gönder ya da anonimliği kapatıp kendi adınla yaz.",
  },
  uz: {
    offer: "Bonusni olish uchun qisqa reklamani oxirigacha koʻring va yoping.",
    button: "🎁 Koʻrish va olish",
    later: "Hozir reklama yoʻq.",
    laterAt: "Keyingi reklama soat {time} UTC da boʻladi.",
    failed: "Bizning tomonda xatolik yuz berdi. Bir daqiqadan soʻng qayta urinib koʻring.",
    anonymous:
      "Siz guruh yoki kanal nomidan yozyapsiz, shuning uchun bonus kimga berilishi nomaʼlum. Buyruqni menga shaxsiy chatda yuboring yoki anonimlikni oʻchirib, oʻz nomingizdan yozing.",
  },
  de: {
    offer: "Sieh dir eine kurze Werbung bis zum Ende an und schließe sie, um deinen Bonus zu bekommen.",
    button: "🎁 Ansehen und verdienen",
    later: "Gerade ist keine Werbung verfügbar.",
    laterAt: "Die nächste Werbung ist um {time} UTC verfügbar.",
    failed: "Bei uns ist etwas schiefgelaufen. Versuch es in einer Minute noch einmal.",
    anonymous:
      "Du schreibst im Namen einer Gruppe oder eines Kanals. So ist unklar, wer den Bonus bekommt. Schick mir den Befehl privat, oder schalte die Anonymität aus und schreib als du selbst.",
  },
  fr: {
    offer: "Regarde une courte publicité jusqu’à la fin et ferme-la pour recevoir ton bonus.",
    button: "🎁 Regarder et gagner",
    later: "Aucune publicité pour le moment.",
    laterAt: "La prochaine publicité sera disponible à {time} UTC.",
    failed: "Un problème est survenu de notre côté. Réessaie dans une minute.",
    anonymous:
      "Tu écris au nom d’un groupe ou d’un canal, je ne sais donc pas qui reçoit le bonus. Envoie-moi la commande en privé, ou désactive l’anonymat et écris en ton nom.",
  },
  vi: {
    offer: "Xem hết một quảng cáo ngắn rồi đóng lại để nhận thưởng.",
    button: "🎁 Xem và nhận thưởng",
    later: "Hiện chưa có quảng cáo.",
    laterAt: "Quảng cáo tiếp theo sẽ có lúc {time} UTC.",
    failed: "Đã có lỗi từ phía chúng tôi. Vui lòng thử lại sau một phút.",
    anonymous:
      "Bạn đang viết dưới tên nhóm hoặc kênh nên không biết ai sẽ nhận thưởng. Hãy gửi lệnh này cho tôi trong trò chuyện riêng, hoặc tắt chế độ ẩn danh và viết bằng tên của bạn.",
  },
  it: {
    offer: "Guarda una breve pubblicità fino alla fine e chiudila per ricevere il tuo bonus.",
    button: "🎁 Guarda e guadagna",
    later: "Al momento non ci sono pubblicità.",
    laterAt: "La prossima pubblicità sarà disponibile alle {time} UTC.",
    failed: "Qualcosa è andato storto da parte nostra. Riprova tra un minuto.",
    anonymous:
      "Scrivi a nome di un gruppo o canale, quindi non so chi riceve il bonus. Mandami il comando in privato, oppure disattiva l’anonimato e scrivi a tuo nome.",
  },
} satisfies Record<string, BuiltInTexts>;

/** `in` is Java's old code for Indonesian, which Android sends. */
export function bonusLanguage(language: string): BuiltInTexts | undefined {
  const known = language === "in" ? "id" : language;
  return Object.hasOwn(bonusLanguages, known) ? bonusLanguages[known as keyof typeof bonusLanguages] : undefined;
}
