import type { Role } from "@intermission/operator-api/people";
import type { SignInProblem } from "@intermission/operator-api/problems";
import { type Language, wordTable } from "../words/word-table.ts";

/** Those of signing in, and others for which its screens say more than elsewhere. */
type SignInRefusal = SignInProblem | "LINKED_ALREADY" | "LAST_SIGN_IN_METHOD" | "SIGN_IN_AGAIN" | "TOO_MANY_METHODS";

export const sessionWords = wordTable({
  en: {
    signIn: "Sign in",
    email: "E-mail address",
    password: "Password",
    newPassword: "New password",
    passwordHint: "At least 12 characters. A sentence is good.",
    code: "Code",
    codeHint: "The six digits in your authenticator app.",
    tooMany: "Too many tries. Wait some minutes and try again.",
    invited: "Welcome",
    invitedAs: (email: string, role: string) => `You are invited as ${email}: ${role}.`,
    scan: "Scan the picture with an authenticator app, or type its key into the app:",
    qr: "QR code for the authenticator app",
    accept: "Set password and sign in",
    noInvitation: "This invitation was used, has expired or was replaced. Ask for another one.",
    noSignInLink: "This link was used or has expired. Make another one with: pnpm ads people sign-in-link",
    toSignIn: "To the sign-in page",
    back: "Back",
    continueWith: (provider: string) => `Continue with ${provider}`,
    withPasskey: "Sign in with a passkey",
    orPassword: "or with a password",
    orNewPassword: "or set a password",
    linkAccount: "Link an account",
    refusals: {
      NOT_SIGNED_IN: "The e-mail address, the password or the code is wrong. A code works once: wait for the next one.",
      NOT_LINKED:
        "Nobody here has linked this account. Open your invitation and continue with the account there, or sign in another way and link it.",
      LINKED_ALREADY: "This account is linked with a person already.",
      SIGN_IN_CANCELLED: "You have cancelled at the provider.",
      SIGN_IN_EXPIRED: "Signing in began in another window, or too long ago. Begin again.",
      PROVIDER_REFUSED: "The provider's answer is not valid. Begin again.",
      PROVIDER_UNAVAILABLE: "The provider does not answer. Try again, or sign in another way.",
      PASSKEY_REFUSED: "This passkey is not accepted. Try again, or sign in another way.",
      LAST_SIGN_IN_METHOD: "This is your only way to sign in. Add another one first.",
      SIGN_IN_AGAIN:
        "You signed in a while ago. To keep your account yours, sign out and in again; then you have ten minutes for this.",
      TOO_MANY_METHODS: "There are too many of them. Remove one that is not used.",
    } satisfies Record<SignInRefusal, string>,
    passkeyFaults: {
      "other-address": "Passkeys belong to one address. On a machine of your own, open the console at localhost.",
      "known-already": "This device has a passkey of yours already.",
      failed: "The browser could not use a passkey. Try again, or sign in another way.",
    },
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
    tooMany: "Слишком много попыток. Подождите несколько минут и повторите.",
    invited: "Добро пожаловать",
    invitedAs: (email, role) => `Вас пригласили как ${email}: ${role}.`,
    scan: "Отсканируйте картинку приложением-аутентификатором или введите в него ключ:",
    qr: "QR-код для приложения-аутентификатора",
    accept: "Задать пароль и войти",
    noInvitation: "Приглашение использовано, истекло или заменено. Попросите новое.",
    noSignInLink: "Ссылка использована или истекла. Создайте новую: pnpm ads people sign-in-link",
    toSignIn: "На страницу входа",
    back: "Назад",
    continueWith: (provider) => `Войти через ${provider}`,
    withPasskey: "Войти с ключом доступа",
    orPassword: "или с паролем",
    orNewPassword: "или задать пароль",
    linkAccount: "Связать аккаунт",
    refusals: {
      NOT_SIGNED_IN: "Неверны адрес, пароль или код. Код действует один раз: дождитесь следующего.",
      NOT_LINKED:
        "Этот аккаунт здесь ни с кем не связан. Откройте приглашение и войдите через аккаунт там или войдите иначе и свяжите его.",
      LINKED_ALREADY: "Этот аккаунт уже связан с человеком.",
      SIGN_IN_CANCELLED: "Вы отменили вход у провайдера.",
      SIGN_IN_EXPIRED: "Вход начат в другом окне или слишком давно. Начните заново.",
      PROVIDER_REFUSED: "Ответ провайдера недействителен. Начните заново.",
      PROVIDER_UNAVAILABLE: "Провайдер не отвечает. Повторите или войдите иначе.",
      PASSKEY_REFUSED: "Ключ доступа не принят. Повторите или войдите иначе.",
      LAST_SIGN_IN_METHOD: "Это единственный способ входа. Сначала добавьте другой.",
      SIGN_IN_AGAIN:
        "Вы вошли довольно давно. Чтобы аккаунт оставался вашим, выйдите и войдите снова: после этого на это есть десять минут.",
      TOO_MANY_METHODS: "Их слишком много. Удалите ненужный.",
    },
    passkeyFaults: {
      "other-address": "Ключи доступа привязаны к адресу. На своей машине откройте консоль по адресу localhost.",
      "known-already": "На этом устройстве уже есть ваш ключ доступа.",
      failed: "Браузер не смог использовать ключ доступа. Повторите или войдите иначе.",
    },
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
