/** Why an id of a chat, or of one of Telegram's shared accounts, gets no code. */
export const chatInsteadOfPerson =
  "is a chat, or everybody who writes in the name of one: create the code for the person, after a command in the private chat";
