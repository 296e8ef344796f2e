/** Text into the clipboard, also where the page came over plain HTTP from another machine: there the browser has no `navigator.clipboard`. */

/** True where it is there now. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return asCopied(text)
  }
}

/** What a copy of nothing puts there. */
function asCopied(text: string): boolean {
  let put = false
  const copying = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
    event.stopImmediatePropagation()
    put = true
  }
  document.addEventListener('copy', copying, true)
  const done = document.execCommand('copy')
  document.removeEventListener('copy', copying, true)
  return done && put
}
