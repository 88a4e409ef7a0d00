import { wordTable } from "../words/word-table.ts";

export const testersWords = wordTable({
  en: {
    testers: "Testers",
    about:
      "A tester gets the complete flow, with signed webhooks that are marked as tests: free of charge, and outside of limits and statistics.",
    none: "This bot has no tester.",
    id: "Telegram id of a user",
    add: "Add",
    remove: "Remove",
    removeOf: (id: string) => `Remove: ${id}`,
    added: (id: string) => `${id} is a tester.`,
    removed: (id: string) => `${id} is no tester any more.`,
  },
  ru: {
    testers: "Тестировщики",
    about:
      "Тестировщик проходит весь путь, и вебхуки подписаны и помечены как тест: бесплатно, вне пределов и статистики.",
    none: "У этого бота нет тестировщиков.",
    id: "Id пользователя в Telegram",
    add: "Добавить",
    remove: "Убрать",
    removeOf: (id) => `Убрать: ${id}`,
    added: (id) => `${id} теперь тестировщик.`,
    removed: (id) => `${id} больше не тестировщик.`,
  },
});
