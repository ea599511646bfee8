/* Two sliders, epsilon and people, and how far off the mean of so many may be. The library has computed the variances
   of one report (examples/story.py); this divides by the people and takes the root. */
document$.subscribe(() => {
  for (const box of document.querySelectorAll(".sliders")) {
    const { epsilons, variances } = JSON.parse(box.dataset.numbers);
    const [epsilon, people] = ["epsilon", "people"].map(name => box.querySelector(`input[name=${name}]`));
    const show = () => {
      const rounded = Number((10 ** (people.value / 10)).toPrecision(2));
      const within = 195.9964 * Math.sqrt(variances[epsilon.value] / rounded);
      const said = within > 50 ? "half" : `${Number(within.toPrecision(2))}%`;
      box.querySelector(".epsilon").textContent = epsilons[epsilon.value];
      box.querySelector(".people").textContent = rounded.toLocaleString("en");
      box.querySelector(".error").textContent = said;
      box.querySelector(".reach").style.width = `${Math.min(2 * within, 100)}%`;
      epsilon.setAttribute("aria-valuetext", `epsilon ${epsilons[epsilon.value]}`);
      people.setAttribute("aria-valuetext", `${rounded} people`);
    };
    for (const slider of [epsilon, people]) slider.addEventListener("input", show);
    show();
  }
});
