/** Gives a text to the browser as a file. */
export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name.replace(/[^\w.-]+/g, '-')
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
