"""A Telegram bot with aiogram 3 that pays for watched ads, and receives their webhooks with FastAPI: `python bot.py`."""

import asyncio
import os

# The bot's id is the first part of its token.
os.environ.setdefault("BOT_ID", os.environ["TELEGRAM_BOT_TOKEN"].split(":")[0])

import uvicorn
from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramAPIError
from aiogram.filters import Command, CommandStart
from aiogram.types import Message
from app import ads, coins_of, create_app
from intermission_ads.aiogram import bonus_router

server = TelegramAPIServer.from_base(os.environ.get("BOT_API_URL", "https://api.telegram.org"))
bot = Bot(os.environ["TELEGRAM_BOT_TOKEN"], session=AiohttpSession(api=server))
dispatcher = Dispatcher()
dispatcher.include_router(bonus_router(ads))


@dispatcher.message(CommandStart())
async def start(message: Message) -> None:
    await message.answer("/bonus: watch an ad for 10 coins. /coins: how many you have.")


@dispatcher.message(Command("coins"))
async def coins(message: Message) -> None:
    if message.from_user is not None:
        await message.answer(f"You have {coins_of(str(message.from_user.id))} coins.")


async def notify(user_id: str, text: str) -> None:
    try:
        await bot.send_message(int(user_id), text)
    except TelegramAPIError as error:
        # The user may have blocked the bot: the coins count all the same.
        print(f"no message for {user_id}: {error}")


async def main() -> None:
    port = int(os.environ.get("PORT", "3000"))
    receiver = uvicorn.Server(uvicorn.Config(create_app(notify), host="127.0.0.1", port=port, log_level="warning"))
    polling = asyncio.create_task(dispatcher.start_polling(bot, handle_signals=False))
    try:
        # Returns at Ctrl-C.
        await receiver.serve()
    finally:
        await dispatcher.stop_polling()
        await polling


asyncio.run(main())
