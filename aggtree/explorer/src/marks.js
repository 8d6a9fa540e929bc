// The marks that both drawings share: pills with a label, and the shapes of classes.

// Letters are taken to be as wide as those of wide fonts are.
const letter = 7.7
export const boxHeight = 24

// Drawings higher than this are made smaller, down to where they can still be read, and then scroll.
export const tallest = 580

// The smallest scale of a drawing: letters are over 11 pixels high then.
export const smallest = 0.93

const longest = 14

// columns is how many letters wide a text is; those of some scripts take the room of two.
function columns(text) {
  let n = 0
  for (const c of text) n += c.codePointAt(0) >= 0x1100 ? 2 : 1
  return n
}

// cut shortens a label to what fits into a node.
export function cut(label) {
  if (columns(label) <= longest) return label
  let n = 0
  let short = ''
  for (const c of label) {
    n += columns(c)
    if (n > longest - 1) break
    short += c
  }
  return short + '…'
}

export const grouped = n => (n > Number.MAX_SAFE_INTEGER ? 'more than ' + Number.MAX_SAFE_INTEGER.toLocaleString('en') : n.toLocaleString('en'))

// short writes large numbers of folded nodes so that they fit.
export function short(n) {
  for (const {unit, letter} of [{unit: 1e12, letter: 'T'}, {unit: 1e9, letter: 'G'}, {unit: 1e6, letter: 'M'}, {unit: 1e4, letter: 'k'}]) {
    if (n >= unit) {
      const scaled = n / (unit === 1e4 ? 1e3 : unit)
      return (scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)) + letter
    }
  }
  return String(n)
}

// widthOf is how wide pills with these labels must be; those with shapes are wider.
export function widthOf(labels, shapes) {
  let most = 0
  for (const label of labels) most = Math.max(most, columns(label))
  return Math.max(32, Math.ceil(most * letter + 14 + (shapes ? 14 : 0)))
}

// The shapes of classes, about 10 pixels wide round 0, 0: as those of the charts.
export const shapes = [
  'M4.5,0A4.5,4.5 0 1 1 -4.5,0A4.5,4.5 0 1 1 4.5,0Z',
  'M-4,-4H4V4H-4Z',
  'M0,-5L5,4H-5Z',
  'M0,-5.5L5.5,0L0,5.5L-5.5,0Z',
  'M0,5L-5,-4H5Z',
  'M0,-5L5,-1.4L3.1,4.5H-3.1L-5,-1.4Z',
  'M0,-5.8L1.5,-1.8L5.5,-1.8L2.3,0.8L3.4,4.9L0,2.5L-3.4,4.9L-2.3,0.8L-5.5,-1.8L-1.5,-1.8Z',
]

// pill puts the parts of a node into new groups; dress says how they look. A selection's data need mark: {label, full,
// look, ghost, more, masked}.
export function pill(groups) {
  groups.append('title')
  groups.append('rect').attr('class', 'halo')
  groups.append('rect').attr('class', 'back')
  groups.append('rect').attr('class', 'fill')
  groups.append('rect').attr('class', 'ring')
  groups.append('path').attr('class', 'shape')
  groups.append('text')
  return groups
}

// named is what a screen reader calls a node. It begins with what is seen, if that is not all of the name.
export const named = ({label, full}) => (full.includes(label) ? full : `${label}: ${full}`)

export function dress(groups, width) {
  const box = (name, grow, radius) => groups.select(name)
    .attr('x', -width / 2 - grow).attr('y', -boxHeight / 2 - grow)
    .attr('width', width + 2 * grow).attr('height', boxHeight + 2 * grow)
    .attr('rx', d => (d.mark.more ? 4 : radius + grow))
  box('.halo', 4, boxHeight / 2)
  box('.back', 0, boxHeight / 2)
  // Class and ring are set apart, so that neither is taken for the other.
  const inset = groups.data().some(d => d.mark.look.shape >= 0) ? -3 : 0
  box('.fill', inset, boxHeight / 2)
  box('.ring', 0, boxHeight / 2)
  groups.attr('class', d => classesOf(d.mark))
  groups.select('title').text(d => d.mark.full)
  groups.select('.shape')
    .attr('d', d => (hasShape(d.mark) ? shapes[d.mark.look.shape] : null))
    .attr('transform', `translate(${14 - width / 2},0)`)
  groups.select('text').attr('x', d => (hasShape(d.mark) ? 8 : 0)).attr('y', 4.3).text(d => d.mark.label)
}

const hasShape = mark => mark.look.shape >= 0 && !mark.more

function classesOf(mark) {
  const names = ['node']
  if (mark.more) names.push('more')
  if (mark.ghost) names.push('ghost')
  if (mark.look.root) names.push('root')
  if (!mark.ghost && !mark.more) {
    if (mark.look.fill >= 0) names.push('f' + mark.look.fill)
    if (mark.look.ring >= 0) names.push('r' + mark.look.ring, 'dash' + mark.look.style)
    if (mark.masked) names.push('masked')
  }
  if (mark.look.shape >= 0) names.push('s' + mark.look.shape, 'c' + mark.look.fill)
  return names.join(' ')
}
