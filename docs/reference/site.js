/* A wide table scrolls in its own box: one that does can be reached by keys. */
document$.subscribe(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .shown")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});

// The search reads +, -, ~, ^, : and * as signs of its own; in a question such as "+-2% at epsilon 1" they are none.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  const asked = message?.type === 2 && typeof message.data === "string";
  return post.call(this, asked ? { ...message, data: message.data.replace(/[-+~^:*%]+/g, " ") } : message, ...others);
};
