/** Creates an element with these properties and children. Strings become text nodes, never markup. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** One of the page's icons, hidden from screen readers: the text beside it has the meaning. */
export function icon(name) {
  const namespace = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(namespace, "svg");
  const use = document.createElementNS(namespace, "use");
  made.setAttribute("class", "icon");
  made.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  made.append(use);
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}
