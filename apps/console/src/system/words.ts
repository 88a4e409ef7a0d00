import { wordTable } from "../words/word-table.ts";

export const systemWords = wordTable({
  en: {
    system: "System",
    server: "The server that answered",
    version: "Version",
    schema: "Schema of the store",
    postgres: "PostgreSQL",
    store: "Store",
    database: "Database",
    currency: "Currency",
    restart: (currency: string) => `${currency} until this server is started again`,
    queues: "Webhooks that wait",
    bot: "Bot",
    waiting: "Waiting",
    empty: "No webhook waits.",
  },
  ru: {
    system: "Система",
    server: "Сервер, который ответил",
    version: "Версия",
    schema: "Схема хранилища",
    postgres: "PostgreSQL",
    store: "Хранилище",
    database: "База данных",
    currency: "Валюта",
    restart: (currency) => `${currency} до перезапуска этого сервера`,
    queues: "Вебхуки в очереди",
    bot: "Бот",
    waiting: "В очереди",
    empty: "Очередь пуста.",
  },
});
