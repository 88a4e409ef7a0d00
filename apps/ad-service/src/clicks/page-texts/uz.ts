import type { LinkPageTexts } from "./link-page-texts.ts";

export const uz: LinkPageTexts = {
  go: "Sahifani ochish",
  back: "Botga qaytish: {bot}",
  pages: {
    "tap-needed": {
      title: "Bir marta bosish qoldi",
      text: "Sahifani ochish uchun tugmani bosing. Faqat inson bosgani hisobga olinadi.",
    },
    "tap-again": {
      title: "Yana bir marta bosing",
      text: "Shu orada tarmogʻingiz oʻzgardi yoki sahifa juda uzoq ochiq turdi. Yana bir marta bosing, sahifa ochiladi.",
    },
    machine: {
      title: "Bir kishi uchun havola",
      text: "Bu havola qayerga olib borishini koʻrish uchun uni brauzeringizda oching.",
    },
    "unknown-code": {
      title: "Bu havola hech qayerga olib bormaydi",
      text: "Ehtimol, uning bir qismi yoʻlda yoʻqolgan. Botga qayting va havolani oʻsha yerdan oching.",
    },
    expired: {
      title: "Bu havolaning muddati tugagan",
      text: "Bunday havolalar qisqa vaqt ishlaydi. Botdan yangisini oling.",
    },
    used: {
      title: "Bu havoladan foydalanilgan",
      text: "U bir marta hisobga olindi, bu yerda boshqa narsa yoʻq. Botdan yangisini oling.",
    },
    cooldown: {
      title: "Biroz erta",
      text: "Oxirgi reklama hozirgina koʻrsatildi. Bu havola {when} yana hisobga olinadi.",
    },
    "daily-cap": {
      title: "Bugunga shu",
      text: "Siz bir kunlik reklamalarning hammasini koʻrdingiz. Keyingisi {when} chiqadi.",
    },
    "no-ad": {
      title: "Hozircha reklama yoʻq",
      text: "Hozir koʻrsatadigan narsa yoʻq. Havolangiz amal qiladi: birozdan keyin urinib koʻring.",
    },
    "address-limit": {
      title: "Bugun tarmogʻingizdan tashriflar koʻp",
      text: "Bugun bu yoʻldan shuncha koʻp odam keldiki, ularni bir-biridan ajrata olmaymiz. Sahifani ochishingiz mumkin, lekin bu tashrif uchun mukofot yoʻq. Havolangiz amal qiladi: boshqa tarmoqdan yoki ertaga urinib koʻring.",
    },
    "too-many-visits": {
      title: "Bir vaqtda tashriflar juda koʻp",
      text: "Bu havola tarmogʻingizdan juda koʻp marta ochildi. U amal qiladi: {when} qayta oching.",
    },
    unavailable: {
      title: "Qayta urinib koʻring",
      text: "Biz tomonda xatolik yuz berdi. Havolangiz ishlatilmagan: birozdan keyin qayta oching.",
    },
  },
};
