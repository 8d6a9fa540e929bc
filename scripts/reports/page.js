// What a page needs a program for. Without it the page is whole, too.
(() => {
  // On paper nothing can be unfolded.
  const folded = document.querySelectorAll('details.code:not([open])');
  addEventListener('beforeprint', () => folded.forEach(d => { d.printed = !d.open; d.open = true; }));
  addEventListener('afterprint', () => folded.forEach(d => { d.open = !d.printed; }));
  // What is wider than its box says so, until its end is in sight.
  const boxes = document.querySelectorAll('.html, .html > div, .scroll');
  const mark = box => {
    const scrolls = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== 'visible';
    box.classList.toggle('wide', scrolls);
    if (scrolls && !box.hasAttribute('tabindex')) box.tabIndex = 0; // to be scrolled by keys
    box.classList.toggle('end', scrolls && box.scrollLeft + box.clientWidth > box.scrollWidth - 8);
  };
  const all = () => boxes.forEach(mark);
  boxes.forEach(box => box.addEventListener('scroll', () => mark(box), { passive: true }));
  addEventListener('load', all);
  addEventListener('resize', all);
  all();
})();
