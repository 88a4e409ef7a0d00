import type { LinkPageTexts } from "./link-page-texts.ts";

export const id: LinkPageTexts = {
  go: "Buka halaman",
  back: "Kembali ke {bot}",
  pages: {
    "tap-needed": {
      title: "Tinggal satu ketukan",
      text: "Ketuk tombol untuk membuka halaman. Hanya dihitung jika diketuk oleh manusia.",
    },
    "tap-again": {
      title: "Ketuk sekali lagi",
      text: "Jaringan Anda berubah di tengah jalan, atau halaman ini terlalu lama terbuka. Ketuk sekali lagi untuk melanjutkan.",
    },
    machine: { title: "Tautan untuk satu orang", text: "Buka tautan ini di peramban untuk melihat tujuannya." },
    "unknown-code": {
      title: "Tautan ini tidak menuju ke mana pun",
      text: "Mungkin sebagian tautannya hilang. Kembali ke bot dan ambil tautan dari sana.",
    },
    expired: {
      title: "Tautan ini sudah kedaluwarsa",
      text: "Tautan seperti ini berumur pendek. Minta yang baru ke bot.",
    },
    used: {
      title: "Tautan ini sudah terpakai",
      text: "Sudah dihitung satu kali dan tidak ada lagi yang bisa dilihat. Minta yang baru ke bot.",
    },
    cooldown: {
      title: "Sedikit terlalu cepat",
      text: "Iklan terakhir baru saja tampil. Tautan ini dihitung lagi {when}.",
    },
    "daily-cap": {
      title: "Cukup untuk hari ini",
      text: "Anda sudah melihat semua iklan untuk satu hari. Iklan berikutnya ada {when}.",
    },
    "no-ad": {
      title: "Belum ada iklan",
      text: "Saat ini tidak ada yang bisa ditampilkan. Tautan Anda tetap berlaku: coba lagi nanti.",
    },
    "address-limit": {
      title: "Banyak kunjungan dari jaringan Anda hari ini",
      text: "Hari ini begitu banyak orang datang lewat jaringan ini sehingga kami tidak bisa membedakannya. Halaman tetap terbuka untuk Anda, tetapi kunjungan ini tidak menghasilkan apa pun. Tautan Anda tetap berlaku: coba dari jaringan lain, atau besok.",
    },
    "too-many-visits": {
      title: "Terlalu banyak kunjungan sekaligus",
      text: "Tautan ini sangat sering dibuka dari jaringan Anda. Tautan tetap berlaku: buka lagi {when}.",
    },
    unavailable: {
      title: "Coba lagi",
      text: "Ada yang salah di pihak kami. Tautan Anda belum terpakai: buka lagi beberapa saat lagi.",
    },
  },
};
