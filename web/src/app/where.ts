/** Whether a page is one on which people draw: what they change there is kept in the browser. */
export const isEditor = (path: string): boolean => /^\/app\/(new$|workflows\/[^/]+\/edit$)/.test(path)
