import type { PageLanguage } from "@intermission/ad-core/page-language";

export type FriendlyPage = "unknown-address" | "no-bot" | "unknown-bot" | "not-built" | "being-built" | "unavailable";

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
    "being-built": { title: "This page is being built", text: "It opens by itself in a moment." },
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
    "being-built": { title: "Эта страница ещё собирается", text: "Она откроется сама через несколько мгновений." },
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
    "being-built": { title: "Ця сторінка ще збирається", text: "Вона відкриється сама за кілька митей." },
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
    "being-built": { title: "Esta página se está preparando", text: "Se abrirá sola en un momento." },
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
    "being-built": { title: "Esta página está sendo preparada", text: "Ela abrirá sozinha em instantes." },
    unavailable: { title: "O aplicativo não pode ser aberto agora", text: "Tente novamente em um minuto." },
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
    "being-built": { title: "يجري إعداد هذه الصفحة", text: "ستُفتح من تلقاء نفسها بعد لحظات." },
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
    "being-built": { title: "این صفحه در حال آماده‌سازی است", text: "چند لحظهٔ دیگر خودش باز می‌شود." },
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
    "being-built": { title: "यह पेज तैयार हो रहा है", text: "यह कुछ ही पल में अपने आप खुल जाएगा।" },
    unavailable: { title: "ऐप अभी नहीं खुल सकता", text: "कृपया एक मिनट बाद फिर से कोशिश करें।" },
  },
  id: {
    "unknown-address": {
      title: "Tidak ada apa-apa di sini",
      text: "Kembali ke obrolan bot dan buka aplikasi dari sana.",
    },
    "no-bot": {
      title: "Alamat ini tidak menyebut bot",
      text: "Kembali ke obrolan bot dan buka aplikasi dari sana. Untuk pemilik bot: akhiri alamat dengan id bot.",
    },
    "unknown-bot": {
      title: "Tidak ada yang ditampilkan di sini",
      text: "Alamat ini bukan milik bot mana pun. Kembali ke obrolan bot dan buka aplikasi dari sana.",
    },
    "not-built": { title: "Aplikasi belum siap", text: "Silakan kembali beberapa menit lagi." },
    "being-built": { title: "Halaman ini sedang disiapkan", text: "Halaman akan terbuka sendiri sebentar lagi." },
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
    "being-built": { title: "Bu sayfa hazırlanıyor", text: "Birazdan kendiliğinden açılacak." },
    unavailable: { title: "Uygulama şu anda açılamıyor", text: "Lütfen bir dakika sonra tekrar deneyin." },
  },
  uz: {
    "unknown-address": {
      title: "Bu yerda hech narsa yoʻq",
      text: "Bot chatiga qayting va ilovani oʻsha yerdan oching.",
    },
    "no-bot": {
      title: "Bu manzilda bot koʻrsatilmagan",
      text: "Bot chatiga qayting va ilovani oʻsha yerdan oching. Bot egasiga: manzil oxiriga botning id raqamini qoʻshing.",
    },
    "unknown-bot": {
      title: "Bu yerda hech narsa koʻrsatilmaydi",
      text: "Bu manzil hech qaysi botga tegishli emas. Bot chatiga qayting va ilovani oʻsha yerdan oching.",
    },
    "not-built": { title: "Ilova hali tayyor emas", text: "Bir necha daqiqadan keyin qayting." },
    "being-built": { title: "Bu sahifa tayyorlanmoqda", text: "U birozdan keyin o‘zi ochiladi." },
    unavailable: { title: "Ilova hozir ochilmayapti", text: "Bir daqiqadan keyin qayta urinib koʻring." },
  },
  de: {
    "unknown-address": {
      title: "Hier gibt es nichts",
      text: "Kehre in den Chat mit dem Bot zurück und öffne die App von dort.",
    },
    "no-bot": {
      title: "Diese Adresse nennt keinen Bot",
      text: "Kehre in den Chat mit dem Bot zurück und öffne die App von dort. Für den Betreiber des Bots: Hänge die ID des Bots an die Adresse an.",
    },
    "unknown-bot": {
      title: "Hier wird nichts gezeigt",
      text: "Diese Adresse gehört zu keinem Bot. Kehre in den Chat mit dem Bot zurück und öffne die App von dort.",
    },
    "not-built": { title: "Die App ist noch nicht bereit", text: "Schau in ein paar Minuten wieder vorbei." },
    "being-built": { title: "Diese Seite wird gerade erstellt", text: "Sie öffnet sich gleich von selbst." },
    unavailable: { title: "Die App lässt sich gerade nicht öffnen", text: "Versuche es in einer Minute erneut." },
  },
  fr: {
    "unknown-address": {
      title: "Il n’y a rien ici",
      text: "Retournez dans la conversation avec le bot et ouvrez l’application depuis là.",
    },
    "no-bot": {
      title: "Cette adresse n’indique aucun bot",
      text: "Retournez dans la conversation avec le bot et ouvrez l’application depuis là. Pour le propriétaire du bot : terminez l’adresse par l’id du bot.",
    },
    "unknown-bot": {
      title: "Rien n’est affiché ici",
      text: "Cette adresse n’appartient à aucun bot. Retournez dans la conversation avec le bot et ouvrez l’application depuis là.",
    },
    "not-built": { title: "L’application n’est pas encore prête", text: "Revenez dans quelques minutes." },
    "being-built": { title: "Cette page est en préparation", text: "Elle s’ouvrira d’elle-même dans un instant." },
    unavailable: { title: "L’application ne peut pas s’ouvrir pour l’instant", text: "Réessayez dans une minute." },
  },
  vi: {
    "unknown-address": {
      title: "Ở đây không có gì",
      text: "Hãy quay lại cuộc trò chuyện với bot và mở ứng dụng từ đó.",
    },
    "no-bot": {
      title: "Địa chỉ này không nêu bot nào",
      text: "Hãy quay lại cuộc trò chuyện với bot và mở ứng dụng từ đó. Dành cho chủ bot: hãy thêm id của bot vào cuối địa chỉ.",
    },
    "unknown-bot": {
      title: "Ở đây không hiển thị gì",
      text: "Địa chỉ này không thuộc về bot nào. Hãy quay lại cuộc trò chuyện với bot và mở ứng dụng từ đó.",
    },
    "not-built": { title: "Ứng dụng chưa sẵn sàng", text: "Vui lòng quay lại sau vài phút." },
    "being-built": { title: "Trang này đang được chuẩn bị", text: "Trang sẽ tự mở sau giây lát." },
    unavailable: { title: "Hiện không mở được ứng dụng", text: "Vui lòng thử lại sau một phút." },
  },
  it: {
    "unknown-address": { title: "Qui non c’è niente", text: "Torna alla chat del bot e apri l’app da lì." },
    "no-bot": {
      title: "Questo indirizzo non indica nessun bot",
      text: "Torna alla chat del bot e apri l’app da lì. Per il proprietario del bot: termina l’indirizzo con l’id del bot.",
    },
    "unknown-bot": {
      title: "Qui non viene mostrato niente",
      text: "Questo indirizzo non appartiene a nessun bot. Torna alla chat del bot e apri l’app da lì.",
    },
    "not-built": { title: "L’app non è ancora pronta", text: "Torna tra qualche minuto." },
    "being-built": { title: "Questa pagina è in preparazione", text: "Si aprirà da sola tra un momento." },
    unavailable: { title: "Ora l’app non si può aprire", text: "Riprova tra un minuto." },
  },
};
