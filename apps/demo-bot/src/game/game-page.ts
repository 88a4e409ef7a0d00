/** The address of the game's own page. */
export const GAME_PAGE = "/play";

export const isGamePage = (url: string): boolean => url.split("?")[0] === GAME_PAGE;
