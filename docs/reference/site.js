/* A wide table scrolls in its own box: one that does can be reached by keys. */
document$.subscribe(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .shown")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
