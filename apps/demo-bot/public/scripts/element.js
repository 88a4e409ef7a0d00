/** A new element with these properties and children. Text is always text, never markup. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** One of the page's own icons. It says nothing: the words stand beside it. */
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
