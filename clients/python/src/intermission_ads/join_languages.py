"""The message to users who want to join, in their languages: those of `join-languages.ts` of the package for Node, which a test compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class JoinTexts:
    """The message to a user whose Telegram opens no mini-app by itself. `{title}` is the channel's."""

    offer: str = "You want to join “{title}”. Watch one short ad to the end and close it, and you are in."
    button: str = "▶️ Watch and join"


_ENGLISH = JoinTexts()
_LANGUAGES: Mapping[str, JoinTexts] = {
    "ru": JoinTexts(
        "Вы хотите вступить в «{title}». Посмотрите одну короткую рекламу до конца и закройте её, и вас примут.",
        "▶️ Смотреть и вступить",
    ),
    "uk": JoinTexts(
        "Ви хочете приєднатися до «{title}». Перегляньте одну коротку рекламу до кінця й закрийте її, і вас приймуть.",
        "▶️ Дивитися й приєднатися",
    ),
    "es": JoinTexts(
        "Quieres unirte a «{title}». Mira un anuncio corto hasta el final, ciérralo y entrarás.",
        "▶️ Mirar y entrar",
    ),
    "pt": JoinTexts(
        "Você quer entrar em “{title}”. Assista a um anúncio curto até o fim, feche-o e você entra.",
        "▶️ Assistir e entrar",
    ),
    "ar": JoinTexts(
        "تريد الانضمام إلى «{title}». شاهد إعلانًا قصيرًا واحدًا حتى النهاية ثم أغلقه، وستنضم.",
        "▶️ شاهد وانضم",
    ),
    "fa": JoinTexts(
        "می‌خواهید به «{title}» بپیوندید. یک تبلیغ کوتاه را تا پایان ببینید و ببندید تا عضو شوید.",
        "▶️ ببینید و بپیوندید",
    ),
    "hi": JoinTexts(
        "आप “{title}” से जुड़ना चाहते हैं। एक छोटा विज्ञापन अंत तक देखें और बंद करें, फिर आप जुड़ जाएँगे।",
        "▶️ देखें और जुड़ें",
    ),
    "id": JoinTexts(
        "Anda ingin bergabung ke “{title}”. Tonton satu iklan singkat sampai selesai lalu tutup, dan Anda masuk.",
        "▶️ Tonton dan bergabung",
    ),
    "tr": JoinTexts(
        "“{title}” sohbetine katılmak istiyorsunuz. Kısa bir reklamı sonuna kadar izleyip kapatın, katılmış olursunuz.",
        "▶️ İzle ve katıl",
    ),
    "uz": JoinTexts(
        "Siz «{title}»ga qoʻshilmoqchisiz. Bitta qisqa reklamani oxirigacha koʻring va yoping, shunda qoʻshilasiz.",
        "▶️ Koʻrish va qoʻshilish",
    ),
    "de": JoinTexts(
        "Du möchtest „{title}“ beitreten. Sieh dir eine kurze Werbung bis zum Ende an und schließe sie, dann bist du dabei.",
        "▶️ Ansehen und beitreten",
    ),
    "fr": JoinTexts(
        "Tu veux rejoindre « {title} ». Regarde une courte publicité jusqu’à la fin, ferme-la, et tu y es.",
        "▶️ Regarder et rejoindre",
    ),
    "vi": JoinTexts(
        "Bạn muốn tham gia “{title}”. Xem hết một quảng cáo ngắn rồi đóng lại là bạn được vào.",
        "▶️ Xem và tham gia",
    ),
    "it": JoinTexts(
        "Vuoi entrare in “{title}”. Guarda una breve pubblicità fino alla fine, chiudila e sei dentro.",
        "▶️ Guarda ed entra",
    ),
}


def join_texts(language_code: str | None) -> JoinTexts:
    """In the user's language, as Telegram names it: one of the fifteen of the mini-app, else English."""
    language = (language_code or "en").lower().replace("_", "-").split("-")[0]
    # `in` is Java's old code for Indonesian, which Android sends.
    return _LANGUAGES.get("id" if language == "in" else language, _ENGLISH)
