/** A name that nothing else has. `crypto.randomUUID` is missing where a page came over plain HTTP from another machine. */
export const freshId = (): string => [...crypto.getRandomValues(new Uint8Array(8))].map((each) => each.toString(16).padStart(2, '0')).join('')
