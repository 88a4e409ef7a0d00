import type { Role } from "@intermission/operator-api/people";
import { type Language, wordTable } from "../words/word-table.ts";

export const sessionWords = wordTable({
  en: {
    signIn: "Sign in",
    email: "E-mail address",
    password: "Password",
    newPassword: "New password",
    passwordHint: "At least 12 characters. A sentence is good.",
    code: "Code",
    codeHint: "The six digits in your authenticator app.",
    wrong: "The e-mail address, the password or the code is wrong. A code works once: wait for the next one.",
    tooMany: "Too many tries. Wait some minutes and try again.",
    invited: "Welcome",
    invitedAs: (email: string, role: string) => `You are invited as ${email}: ${role}.`,
    scan: "Scan the picture with an authenticator app, or type its key into the app:",
    qr: "QR code for the authenticator app",
    accept: "Set password and sign in",
    noInvitation: "This invitation was used, has expired or was replaced. Ask for another one.",
    noSignInLink: "This link was used or has expired. Make another one with: pnpm ads people sign-in-link",
    toSignIn: "To the sign-in page",
    brand: "Rewarded ads for messenger bots",
  },
  ru: {
    signIn: "Войти",
    email: "Адрес эл. почты",
    password: "Пароль",
    newPassword: "Новый пароль",
    passwordHint: "Не меньше 12 символов. Подойдёт фраза.",
    code: "Код",
    codeHint: "Шесть цифр из приложения-аутентификатора.",
    wrong: "Неверны адрес, пароль или код. Код действует один раз: дождитесь следующего.",
    tooMany: "Слишком много попыток. Подождите несколько минут и повторите.",
    invited: "Добро пожаловать",
    invitedAs: (email, role) => `Вас пригласили как ${email}: ${role}.`,
    scan: "Отсканируйте картинку приложением-аутентификатором или введите в него ключ:",
    qr: "QR-код для приложения-аутентификатора",
    accept: "Задать пароль и войти",
    noInvitation: "Приглашение использовано, истекло или заменено. Попросите новое.",
    noSignInLink: "Ссылка использована или истекла. Создайте новую: pnpm ads people sign-in-link",
    toSignIn: "На страницу входа",
    brand: "Реклама с наградой для ботов",
  },
});

export const roleWords = {
  en: {
    owner: "owner",
    "ad-ops": "ad operations",
    analyst: "analyst",
    advertiser: "advertiser",
    publisher: "publisher",
  },
  ru: {
    owner: "владелец",
    "ad-ops": "управление рекламой",
    analyst: "аналитик",
    advertiser: "рекламодатель",
    publisher: "издатель",
  },
} satisfies Record<Language, Record<Role, string>>;
