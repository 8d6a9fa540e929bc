// The search in the sidebar. Without it the sidebar is a list of links.
(() => {
  const site = document.querySelector('.site'), field = site.querySelector('input'), list = site.querySelector('ul')
  const wide = matchMedia('(min-width: 75rem)')
  const follow = () => (site.open = wide.matches)
  follow()
  wide.addEventListener('change', follow)
  site.querySelector('.search').hidden = false
  const current = site.querySelector('[aria-current]')
  if (current && wide.matches) site.scrollTop = current.offsetTop - site.clientHeight / 3
  const score = (title, where, text, words) => {
    const lower = title.toLowerCase(), head = `${lower} ${where.toLowerCase()}`
    if (!words.every(word => head.includes(word) || text.includes(word))) return -1
    if (!words.every(word => head.includes(word))) return 0
    const first = words[0]
    return 1 + (lower === words.join(' ') ? 8 : 0) + (lower.startsWith(first) ? 4 : 0) + (lower.includes(first) ? 2 : 0) + (where ? 0 : 1)
  }
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = words.length === 0 ? [] : window.nodemaskIndex.map(([title, where, url, text = '']) => ({title, where, url, score: score(title, where, text, words)}))
      .filter(f => f.score >= 0).sort((a, b) => b.score - a.score).slice(0, 20)
    list.replaceChildren(...found.map(({title, where, url}) => {
      const item = document.createElement('li'), link = Object.assign(document.createElement('a'), {href: url, textContent: title})
      item.append(link)
      if (where) item.append(Object.assign(document.createElement('small'), {textContent: where}))
      return item
    }))
    if (words.length && !found.length) list.append(Object.assign(document.createElement('li'), {textContent: 'Nothing found.'}))
  })
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter' && list.querySelector('a')) location.href = list.querySelector('a').href
    if (event.key === 'Escape') field.value = '', list.replaceChildren()
  })
})()
