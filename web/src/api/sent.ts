/** Programs and texts that the server sends when they are wanted. */

/** Loads one; what did not come is asked for under another address, since a browser keeps in mind for good that an address could not be loaded. */
export function sent<T>(load: () => Promise<T>): () => Promise<T> {
  let address: string | undefined
  let tries = 0
  return () =>
    (address === undefined ? load() : (import(/* @vite-ignore */ `${address}?again=${tries}`) as Promise<T>)).catch((cause: unknown) => {
      address = /https?:\S+\.js/.exec(String(cause))?.[0]
      tries += 1
      throw cause
    })
}
