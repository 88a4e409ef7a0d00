import type { LinkPageTexts } from "./link-page-texts.ts";

export const tr: LinkPageTexts = {
  go: "Sayfayı aç",
  back: "{bot} botuna dön",
  pages: {
    "tap-needed": {
      title: "Tek bir dokunuş kaldı",
      text: "Sayfayı açmak için düğmeye dokunun. Yalnızca bir insan dokunursa sayılır.",
    },
    "tap-again": {
      title: "Bir kez daha dokunun",
      text: "Bu arada ağınız değişti ya da sayfa uzun süre açık kaldı. Bir kez daha dokunun, sayfa açılacak.",
    },
    machine: {
      title: "Tek kişilik bir bağlantı",
      text: "Nereye gittiğini görmek için bu bağlantıyı tarayıcınızda açın.",
    },
    "unknown-code": {
      title: "Bu bağlantı bir yere gitmiyor",
      text: "Belki bir kısmı yolda kayboldu. Bota dönün ve bağlantıyı oradan alın.",
    },
    expired: {
      title: "Bu bağlantının süresi doldu",
      text: "Bu tür bağlantılar kısa ömürlüdür. Bottan yenisini isteyin.",
    },
    used: {
      title: "Bu bağlantı kullanıldı",
      text: "Bir kez sayıldı ve görülecek başka bir şey yok. Bottan yenisini isteyin.",
    },
    cooldown: { title: "Biraz erken", text: "Son reklam az önceydi. Bu bağlantı {when} yeniden sayılır." },
    "daily-cap": {
      title: "Bugünlük bu kadar",
      text: "Bir günde gösterilen bütün reklamları gördünüz. Sonraki reklam {when} gelir.",
    },
    "no-ad": {
      title: "Şu anda reklam yok",
      text: "Şimdilik gösterilecek bir şey yok. Bağlantınız geçerli kalır: biraz sonra tekrar deneyin.",
    },
    "address-limit": {
      title: "Bugün ağınızdan çok ziyaret geldi",
      text: "Bugün bu yoldan o kadar çok kişi geldi ki onları ayırt edemiyoruz. Sayfa size açık, ancak bu ziyaret bir şey kazandırmaz. Bağlantınız geçerli kalır: başka bir ağdan veya yarın deneyin.",
    },
    "too-many-visits": {
      title: "Aynı anda çok fazla ziyaret",
      text: "Bu bağlantı ağınızdan çok sık açıldı. Geçerli kalır: {when} yeniden açın.",
    },
    unavailable: {
      title: "Tekrar deneyin",
      text: "Bizim tarafımızda bir sorun oluştu. Bağlantınız harcanmadı: birazdan yeniden açın.",
    },
  },
};
