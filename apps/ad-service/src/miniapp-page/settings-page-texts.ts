import type { PageLanguage } from "@intermission/ad-core/page-language";

/** What `docs/serving.md` says of erasure and `docs/promises.md` of what is stored, for the users of a bot. */
interface SettingsTexts {
  readonly title: string;
  readonly stored: string;
  /** What is stored of addresses and browsers. */
  readonly suspicious: string;
  readonly erasure: string;
  readonly policy: string;
  readonly chat: string;
}

export const settingsTexts: Record<PageLanguage, SettingsTexts> = {
  en: {
    title: "Your data",
    stored:
      "The service that shows the ads here stores your Telegram id, which ads you opened, how much of them you watched, which links you followed and when, and what you earned.",
    suspicious:
      "Of a link that you follow it also keeps a code made from your network address, which is another one each day; where something looks suspicious, the name of your browser too.",
    erasure:
      "To have all this erased, write to the bot’s owner. What you earned then stays in the sums, under a random number that nobody can connect with you.",
    policy: "Privacy policy",
    chat: "Open the bot’s chat",
  },
  ru: {
    title: "Ваши данные",
    stored:
      "Сервис, который показывает здесь рекламу, хранит ваш id в Telegram, какую рекламу вы открывали, сколько из неё посмотрели, по каким ссылкам и когда переходили и что заработали.",
    suspicious:
      "Для ссылки, по которой вы перешли, он хранит ещё код, вычисленный из вашего сетевого адреса: каждый день другой; если что-то выглядит подозрительно, то и название вашего браузера.",
    erasure:
      "Чтобы всё это удалили, напишите владельцу бота. Заработанное тогда останется в суммах под случайным числом, которое никто не свяжет с вами.",
    policy: "Политика конфиденциальности",
    chat: "Открыть чат с ботом",
  },
  uk: {
    title: "Ваші дані",
    stored:
      "Сервіс, який показує тут рекламу, зберігає ваш id у Telegram, яку рекламу ви відкривали, скільки з неї переглянули, за якими посиланнями та коли переходили і що заробили.",
    suspicious:
      "Для посилання, за яким ви перейшли, він зберігає ще код, обчислений із вашої мережевої адреси: щодня інший; якщо щось виглядає підозріло, то й назву вашого браузера.",
    erasure:
      "Щоб усе це видалили, напишіть власнику бота. Зароблене тоді залишиться в сумах під випадковим числом, яке ніхто не пов’яже з вами.",
    policy: "Політика конфіденційності",
    chat: "Відкрити чат із ботом",
  },
  es: {
    title: "Tus datos",
    stored:
      "El servicio que muestra aquí los anuncios guarda tu id de Telegram, qué anuncios abriste, cuánto viste de ellos, qué enlaces seguiste y cuándo, y lo que ganaste.",
    suspicious:
      "De un enlace que sigues guarda también un código hecho a partir de tu dirección de red, distinto cada día; si algo parece sospechoso, también el nombre de tu navegador.",
    erasure:
      "Para que se borre todo esto, escribe al dueño del bot. Lo que ganaste queda entonces en las sumas, bajo un número al azar que nadie puede relacionar contigo.",
    policy: "Política de privacidad",
    chat: "Abrir el chat del bot",
  },
  pt: {
    title: "Seus dados",
    stored:
      "O serviço que exibe os anúncios aqui guarda seu id do Telegram, quais anúncios você abriu, quanto deles assistiu, quais links seguiu e quando, e o que ganhou.",
    suspicious:
      "De um link que você segue, ele guarda também um código feito a partir do seu endereço de rede, diferente a cada dia; se algo parecer suspeito, também o nome do seu navegador.",
    erasure:
      "Para que tudo isso seja apagado, escreva ao dono do bot. O que você ganhou fica então nas somas, sob um número aleatório que ninguém pode ligar a você.",
    policy: "Política de privacidade",
    chat: "Abrir o chat do bot",
  },
  ar: {
    title: "بياناتك",
    stored:
      "تحفظ الخدمة التي تعرض الإعلانات هنا معرّفك في تيليجرام، والإعلانات التي فتحتها، وكم شاهدت منها، والروابط التي فتحتها ومتى، وما كسبته.",
    suspicious:
      "وعن الرابط الذي تفتحه تحفظ أيضًا رمزًا محسوبًا من عنوان شبكتك، ويختلف كل يوم؛ وإذا بدا شيء مريبًا فاسم متصفحك أيضًا.",
    erasure: "لمحو كل ذلك اكتب إلى مالك البوت. عندها يبقى ما كسبته في المجاميع تحت رقم عشوائي لا يستطيع أحد ربطه بك.",
    policy: "سياسة الخصوصية",
    chat: "فتح دردشة البوت",
  },
  fa: {
    title: "داده‌های شما",
    stored:
      "سرویسی که اینجا تبلیغ نشان می‌دهد شناسهٔ تلگرام شما، تبلیغ‌هایی که باز کرده‌اید، مقداری که از آن‌ها دیده‌اید، پیوندهایی که دنبال کرده‌اید و زمان آن، و آنچه به دست آورده‌اید را نگه می‌دارد.",
    suspicious:
      "برای پیوندی که دنبال می‌کنید، کدی ساخته‌شده از نشانی شبکهٔ شما را هم نگه می‌دارد که هر روز فرق می‌کند؛ و اگر چیزی مشکوک به نظر برسد، نام مرورگر شما را هم.",
    erasure:
      "برای پاک شدن همهٔ این‌ها به صاحب ربات پیام دهید. آنچه به دست آورده‌اید آنگاه در جمع‌ها زیر عددی تصادفی می‌ماند که کسی نمی‌تواند آن را به شما ربط دهد.",
    policy: "سیاست حریم خصوصی",
    chat: "باز کردن گفت‌وگوی ربات",
  },
  hi: {
    title: "आपका डेटा",
    stored:
      "यहाँ विज्ञापन दिखाने वाली सेवा आपकी Telegram आईडी, आपने कौन से विज्ञापन खोले, उन्हें कितना देखा, किन लिंक पर कब गए और आपने क्या कमाया, यह सहेजती है।",
    suspicious:
      "आप जिस लिंक पर जाते हैं, उसके लिए वह आपके नेटवर्क पते से बना एक कोड भी रखती है, जो हर दिन बदलता है; कुछ संदिग्ध लगे तो आपके ब्राउज़र का नाम भी।",
    erasure:
      "यह सब मिटवाने के लिए बॉट के मालिक को लिखें। तब आपकी कमाई योग में एक यादृच्छिक संख्या के नीचे रहती है, जिसे कोई आपसे नहीं जोड़ सकता।",
    policy: "गोपनीयता नीति",
    chat: "बॉट की चैट खोलें",
  },
  id: {
    title: "Data Anda",
    stored:
      "Layanan yang menampilkan iklan di sini menyimpan id Telegram Anda, iklan yang Anda buka, seberapa banyak Anda menontonnya, tautan yang Anda ikuti beserta waktunya, dan yang Anda peroleh.",
    suspicious:
      "Untuk tautan yang Anda ikuti, layanan juga menyimpan kode dari alamat jaringan Anda, yang berbeda setiap hari; bila ada yang mencurigakan, juga nama peramban Anda.",
    erasure:
      "Agar semua ini dihapus, tulislah kepada pemilik bot. Perolehan Anda lalu tetap ada dalam jumlah, di bawah angka acak yang tidak dapat dikaitkan dengan Anda.",
    policy: "Kebijakan privasi",
    chat: "Buka obrolan bot",
  },
  tr: {
    title: "Verileriniz",
    stored:
      "Burada reklam gösteren hizmet; Telegram kimliğinizi, hangi reklamları açtığınızı, ne kadarını izlediğinizi, hangi bağlantılara ne zaman gittiğinizi ve ne kazandığınızı saklar.",
    suspicious:
      "Gittiğiniz bir bağlantı için ağ adresinizden hesaplanan ve her gün değişen bir kodu da saklar; bir şey şüpheli görünürse tarayıcınızın adını da.",
    erasure:
      "Bunların hepsinin silinmesi için botun sahibine yazın. Kazandıklarınız o zaman toplamlarda, kimsenin sizinle ilişkilendiremeyeceği rastgele bir sayı altında kalır.",
    policy: "Gizlilik politikası",
    chat: "Botun sohbetini aç",
  },
  uz: {
    title: "Maʼlumotlaringiz",
    stored:
      "Bu yerda reklama koʻrsatadigan xizmat Telegram id raqamingizni, qaysi reklamalarni ochganingizni, ularning qanchasini koʻrganingizni, qaysi havolalarga qachon oʻtganingizni va nima ishlaganingizni saqlaydi.",
    suspicious:
      "Siz oʻtgan havola uchun u tarmoq manzilingizdan hisoblangan, har kuni boshqa boʻladigan kodni ham saqlaydi; biror narsa shubhali koʻrinsa, brauzeringiz nomini ham.",
    erasure:
      "Bularning hammasini oʻchirish uchun bot egasiga yozing. Ishlaganingiz shunda yigʻindilarda, hech kim siz bilan bogʻlay olmaydigan tasodifiy son ostida qoladi.",
    policy: "Maxfiylik siyosati",
    chat: "Bot chatini ochish",
  },
  de: {
    title: "Ihre Daten",
    stored:
      "Der Dienst, der hier Werbung zeigt, speichert Ihre Telegram-ID, welche Anzeigen Sie geöffnet haben, wie viel Sie davon gesehen haben, welchen Links Sie wann gefolgt sind und was Sie verdient haben.",
    suspicious:
      "Zu einem Link, dem Sie folgen, behält er auch einen Code, der aus Ihrer Netzadresse berechnet und jeden Tag ein anderer ist; wirkt etwas verdächtig, auch den Namen Ihres Browsers.",
    erasure:
      "Wenn all das gelöscht werden soll, schreiben Sie dem Inhaber des Bots. Was Sie verdient haben, bleibt dann in den Summen, unter einer Zufallszahl, die niemand mit Ihnen verbinden kann.",
    policy: "Datenschutzerklärung",
    chat: "Chat des Bots öffnen",
  },
  fr: {
    title: "Vos données",
    stored:
      "Le service qui affiche ici les publicités conserve votre identifiant Telegram, les publicités que vous avez ouvertes, ce que vous en avez regardé, les liens que vous avez suivis et quand, et ce que vous avez gagné.",
    suspicious:
      "Pour un lien que vous suivez, il conserve aussi un code tiré de votre adresse réseau, différent chaque jour ; si quelque chose semble suspect, le nom de votre navigateur aussi.",
    erasure:
      "Pour faire effacer tout cela, écrivez au propriétaire du bot. Ce que vous avez gagné reste alors dans les totaux, sous un nombre aléatoire que personne ne peut relier à vous.",
    policy: "Politique de confidentialité",
    chat: "Ouvrir la discussion du bot",
  },
  vi: {
    title: "Dữ liệu của bạn",
    stored:
      "Dịch vụ hiển thị quảng cáo ở đây lưu id Telegram của bạn, quảng cáo bạn đã mở, bạn đã xem bao nhiêu, liên kết bạn đã theo và khi nào, và những gì bạn đã kiếm được.",
    suspicious:
      "Với liên kết bạn theo, dịch vụ còn giữ một mã được tính từ địa chỉ mạng của bạn, mỗi ngày một khác; nếu có điều đáng ngờ, cả tên trình duyệt của bạn.",
    erasure:
      "Để xóa tất cả, hãy viết cho chủ bot. Những gì bạn đã kiếm được khi đó vẫn nằm trong các tổng, dưới một số ngẫu nhiên mà không ai có thể gắn với bạn.",
    policy: "Chính sách quyền riêng tư",
    chat: "Mở cuộc trò chuyện của bot",
  },
  it: {
    title: "I tuoi dati",
    stored:
      "Il servizio che mostra qui gli annunci conserva il tuo id Telegram, quali annunci hai aperto, quanto ne hai guardato, quali link hai seguito e quando, e che cosa hai guadagnato.",
    suspicious:
      "Di un link che segui conserva anche un codice ricavato dal tuo indirizzo di rete, diverso ogni giorno; se qualcosa sembra sospetto, anche il nome del tuo browser.",
    erasure:
      "Per far cancellare tutto questo, scrivi al proprietario del bot. Ciò che hai guadagnato resta allora nelle somme, sotto un numero casuale che nessuno può collegare a te.",
    policy: "Informativa sulla privacy",
    chat: "Apri la chat del bot",
  },
};
