"""A Telegram bot with python-telegram-bot 20 or newer that pays for watched ads: `python bot.py`."""

import asyncio
import os
import sqlite3

import uvicorn
from fastapi import FastAPI
from intermission_ads import AdEvent, AsyncAds, SqliteStore
from intermission_ads.bonus import bonus_reply
from intermission_ads.fastapi import webhook
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Update, WebAppInfo
from telegram.error import TelegramError
from telegram.ext import Application, CommandHandler, ContextTypes

telegram_token, ad_token = os.environ["TELEGRAM_BOT_TOKEN"], os.environ["AD_API_TOKEN"]
# The bot's id is the first part of its token.
ads = AsyncAds(os.environ["AD_SERVICE_URL"], ad_token, telegram_token.split(":")[0])
api = os.environ.get("BOT_API_URL", "https://api.telegram.org")
application = Application.builder().token(telegram_token).base_url(f"{api}/bot").build()
database = sqlite3.connect(os.environ.get("DATABASE", "bot.sqlite"))
database.execute("create table if not exists coins (user_id text not null, amount integer not null)")
store = SqliteStore(database)


async def start(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    await update.effective_message.reply_text("/bonus: watch an ad for 10 coins. /coins: how many you have.")


async def bonus(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    message = update.effective_message
    is_private, is_in_name_of_chat = message.chat.type == "private", message.sender_chat is not None
    user_id = update.effective_user.id if update.effective_user else 0
    reply = await bonus_reply(ads, user_id, is_private=is_private, is_in_name_of_chat=is_in_name_of_chat)
    keyboard = None
    if reply.button is not None:
        target = {"web_app": WebAppInfo(reply.button.url)} if reply.button.is_web_app else {"url": reply.button.url}
        keyboard = InlineKeyboardMarkup([[InlineKeyboardButton(reply.button.text, **target)]])
    await message.reply_text(reply.text, reply_markup=keyboard)


async def coins(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    sql = "select coalesce(sum(amount), 0) from coins where user_id = ?"
    (paid,) = database.execute(sql, (str(update.effective_user.id),)).fetchone()
    await update.effective_message.reply_text(f"You have {paid} coins.")


async def pay(event: AdEvent) -> None:
    """Runs once for each event: the coins are committed together with the event's id."""
    insert = "insert into coins values (?, 10)"
    await store.commit_async(event, lambda: database.execute(insert, (event.user_id,)))
    try:
        await application.bot.send_message(int(event.user_id), "🎉 10 coins for you. /coins")
    except TelegramError as error:
        # The user may have blocked the bot: the coins count all the same.
        print(f"no message for {event.user_id}: {error}")


async def main() -> None:
    for name, handler in {"start": start, "bonus": bonus, "coins": coins}.items():
        application.add_handler(CommandHandler(name, handler))
    receiver = FastAPI()
    receiver.post("/webhooks/ads")(webhook(pay, tokens=ad_token, store=store))
    port = int(os.environ.get("PORT", "3000"))
    server = uvicorn.Server(uvicorn.Config(receiver, host="127.0.0.1", port=port, log_level="warning"))
    async with application:
        await application.start()
        await application.updater.start_polling()
        # Returns at Ctrl-C.
        await server.serve()
        await application.updater.stop()
        await application.stop()


asyncio.run(main())
