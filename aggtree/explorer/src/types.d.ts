// What TypeScript cannot see in the scripts, to check them by: nothing here runs.

declare module '*.css' {
  const text: string
  export default text
}
declare module '*.html' {
  const text: string
  export default text
}

// What a selector finds is of the kind that the page has there.
interface ParentNode {
  querySelector(selectors: string): any
  querySelectorAll(selectors: string): NodeListOf<any>
}

interface HTMLElement {
  nodemask?: any // the drawing in an explorer's element
}
interface Window {
  nodemaskModule?: {exec: string; gzip: string}
  nodemaskData?: Record<string, {name: string; base64: string}[]>
  nodemaskTrials?: Record<string, {command: string; seeds: number[]; f1: number[]; again?: Record<string, any>}>
  nodemaskPlayground?: object
}
interface Uint8ArrayConstructor {
  fromBase64?(text: string): Uint8Array
}
